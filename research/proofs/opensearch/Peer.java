import org.codelibs.opensearch.runner.OpenSearchRunner;

/** Runs a node of OpenSearch on loopback until its standard input ends: the folder, the port of HTTP, and that of the node. */
public class Peer {
    public static void main(String[] arguments) throws Exception {
        OpenSearchRunner runner = new OpenSearchRunner();
        runner.onBuild((number, settings) -> {
            settings.put("network.host", "127.0.0.1");
            settings.put("http.port", arguments[1]);
            settings.put("transport.port", arguments[2]);
            settings.putList("discovery.seed_hosts", "127.0.0.1:" + arguments[2]);
            settings.putList("cluster.initial_cluster_manager_nodes", "Node 1");
        }).build(OpenSearchRunner.newConfigs().basePath(arguments[0]).numOfNode(1).clusterName("peer").printOnFailure());
        while (System.in.read() >= 0) {
        }
        runner.close();
    }
}
