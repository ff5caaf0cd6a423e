// The API of the server that the page came from, and no other.

export class Wrong extends Error {
  constructor(error) {
    super(error.message);
    this.place = error.place;
    this.code = error.code;
  }
}

export const pathOf = (index, rest = "") => `/v1/indexes/${encodeURIComponent(index)}${rest}`;

export async function ask(path, body, signal) {
  const options = { signal };
  if (body) {
    options.method = "POST";
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path, options);
  const answer = await response.json();
  if (!response.ok) {
    throw new Wrong(typeof answer.error === "object" ? answer.error : { message: answer.error });
  }
  return answer;
}
