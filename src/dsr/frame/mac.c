/* mac.c: Ethernet addresses: parse, print, compare. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "dsr/frame/mac.h"

const struct mac mac_broadcast = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };

int
mac_parse(struct mac *m, const char *text)
{
	struct mac new;
	int i, high, low;

	for (i = 0; i < 6; i++) {
		if (i > 0 && *text != ':' && *text != '-')
			return -1;
		text += i > 0;
		low = number_hex_digit(*text);
		if (low < 0)
			return -1;
		high = 0;
		text++;
		if (number_hex_digit(*text) >= 0) {
			high = low;
			low = number_hex_digit(*text++);
		}
		new.byte[i] = (uint8_t)(high << 4 | low);
	}
	if (*text != '\0')
		return -1;
	*m = new;
	return 0;
}

char *
mac_format(const struct mac *m, char text[MAC_TEXT_MAX])
{
	const uint8_t *b = m->byte;

	snprintf(text, MAC_TEXT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", b[0],
	    b[1], b[2], b[3], b[4], b[5]);
	return text;
}

bool
mac_equal(const struct mac *a, const struct mac *b)
{
	return memcmp(a->byte, b->byte, sizeof(a->byte)) == 0;
}

bool
mac_is_station(const struct mac *m)
{
	static const struct mac zero;

	return (m->byte[0] & 1) == 0 && !mac_equal(m, &zero);
}

void
mac_of_group(struct mac *m, const uint8_t ip[16])
{
	m->byte[0] = m->byte[1] = 0x33;
	memcpy(m->byte + 2, ip + 12, 4);
}
