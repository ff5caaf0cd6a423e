-- What the queries of claims.toml share.

-- The median of a column over the rows that fit a condition: one row, or its repeated runs.
CREATE MACRO pick(figure, fits) AS median(figure) FILTER (WHERE fits);
-- By how many per cent one figure is larger than another.
CREATE MACRO percent_more(figure, other) AS 100 * (figure / other - 1);
CREATE MACRO kb(bytes) AS bytes / 1e3;
CREATE MACRO mb(bytes) AS bytes / 1e6;
CREATE MACRO gb(bytes) AS bytes / 1e9;
CREATE MACRO kib(bytes) AS bytes / 1024;
CREATE MACRO mib(bytes) AS bytes / 1048576;
