/* made by tests/suites.sh */
#include "config.h"

#include <stddef.h>

#include "support/suite.h"

Suite *test_busy_poll(void);
Suite *test_checksum(void);
Suite *test_director_fast(void);
Suite *test_director_flows(void);
Suite *test_director_vlan(void);
Suite *test_dsr_carried(void);
Suite *test_dsr_flows(void);
Suite *test_dsr_fragments(void);
Suite *test_dsr_full(void);
Suite *test_frame(void);
Suite *test_frame_fragment(void);
Suite *test_frame_make(void);
Suite *test_frame_random(void);
Suite *test_frame_tunnel(void);
Suite *test_pending(void);
Suite *test_inspect(void);
Suite *test_inspect_segment(void);
Suite *test_neighbor(void);
Suite *test_neighbor_claims(void);
Suite *test_neighbor_vip(void);
Suite *test_offload(void);
Suite *test_path_mtu(void);
Suite *test_probe(void);
Suite *test_tarpit(void);
Suite *test_tarpit_flows(void);
Suite *test_who_has(void);
Suite *test_link(void);
Suite *test_link_filter(void);
Suite *test_link_interface(void);
Suite *test_link_merged(void);
Suite *test_vip_lock(void);
Suite *test_route(void);
Suite *test_link_xdp(void);
Suite *test_link_xdp_chunks(void);
Suite *test_xdp_fast(void);
Suite *test_xdp_features(void);

int
main(int argc, char **argv)
{
	static const struct suite_of_file list[] = {
		{ "test_busy_poll", test_busy_poll, NULL },
		{ "test_checksum", test_checksum, NULL },
		{ "test_director_fast", test_director_fast, NULL },
		{ "test_director_flows", test_director_flows, NULL },
		{ "test_director_vlan", test_director_vlan, NULL },
		{ "test_dsr_carried", test_dsr_carried, NULL },
		{ "test_dsr_flows", test_dsr_flows, NULL },
		{ "test_dsr_fragments", test_dsr_fragments, NULL },
		{ "test_dsr_full", test_dsr_full, NULL },
		{ "test_frame", test_frame, NULL },
		{ "test_frame_fragment", test_frame_fragment, NULL },
		{ "test_frame_make", test_frame_make, NULL },
		{ "test_frame_random", test_frame_random, NULL },
		{ "test_frame_tunnel", test_frame_tunnel, NULL },
		{ "test_pending", test_pending, NULL },
		{ "test_inspect", test_inspect, NULL },
		{ "test_inspect_segment", test_inspect_segment, NULL },
		{ "test_neighbor", test_neighbor, NULL },
		{ "test_neighbor_claims", test_neighbor_claims, NULL },
		{ "test_neighbor_vip", test_neighbor_vip, NULL },
		{ "test_offload", test_offload, NULL },
		{ "test_path_mtu", test_path_mtu, NULL },
		{ "test_probe", test_probe, NULL },
		{ "test_tarpit", test_tarpit, NULL },
		{ "test_tarpit_flows", test_tarpit_flows, NULL },
		{ "test_who_has", test_who_has, NULL },
		{ "test_link", test_link, NULL },
		{ "test_link_filter", test_link_filter, NULL },
		{ "test_link_interface", test_link_interface, NULL },
		{ "test_link_merged", test_link_merged, NULL },
		{ "test_vip_lock", test_vip_lock, NULL },
		{ "test_route", test_route, NULL },
		{ "test_link_xdp", test_link_xdp, NULL },
		{ "test_link_xdp_chunks", test_link_xdp_chunks, NULL },
		{ "test_xdp_fast", test_xdp_fast, NULL },
		{ "test_xdp_features", test_xdp_features, NULL },
		{ NULL, NULL, NULL },
	};

	return suites_main(list, argc, argv);
}
