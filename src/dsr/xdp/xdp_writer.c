/* xdp_writer.c: instructions of programs for the kernel. */
#include "config.h"

#include "dsr/xdp/xdp_writer.h"

void
xdp_put(struct xdp_writer *w, uint8_t code, unsigned to, unsigned from,
    int offset, int32_t value)
{
	w->p->at[w->p->count++] = (struct bpf_insn){ .code = code,
		.dst_reg = to & 0xf,
		.src_reg = from & 0xf,
		.off = (int16_t)offset,
		.imm = value };
}

void
xdp_mark(struct xdp_writer *w, enum xdp_label l)
{
	w->place[l] = w->p->count;
}

void
xdp_read(
    struct xdp_writer *w, uint8_t size, unsigned to, unsigned from, int offset)
{
	xdp_put(w, BPF_LDX | BPF_MEM | size, to, from, offset, 0);
}

void
xdp_write(
    struct xdp_writer *w, uint8_t size, unsigned to, int offset, unsigned from)
{
	xdp_put(w, BPF_STX | BPF_MEM | size, to, from, offset, 0);
}

void
xdp_store(struct xdp_writer *w, uint8_t size, int offset, unsigned from)
{
	xdp_write(w, size, BPF_REG_10, offset, from);
}

void
xdp_copy(struct xdp_writer *w, unsigned to, unsigned from)
{
	xdp_put(w, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

void
xdp_set(struct xdp_writer *w, unsigned to, int32_t value)
{
	xdp_put(w, BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value);
}

void
xdp_add(struct xdp_writer *w, unsigned to, unsigned from, int32_t n)
{
	xdp_copy(w, to, from);
	xdp_alu(w, BPF_ADD, to, n);
}

void
xdp_jump(struct xdp_writer *w, uint8_t how, unsigned r, uint32_t value,
    enum xdp_label l)
{
	w->to[w->p->count] = (unsigned char)l;
	xdp_put(w,
	    how == BPF_JA ? BPF_JMP | BPF_JA
			  : (uint8_t)(BPF_JMP32 | how | BPF_K),
	    how == BPF_JA ? 0 : r, 0, 0, (int32_t)value);
}

void
xdp_need(struct xdp_writer *w, unsigned r, int32_t n, enum xdp_label l)
{
	xdp_add(w, BPF_REG_4, r, n);
	xdp_jump_by(w, BPF_JGT, BPF_REG_4, BPF_REG_8, l);
}

void
xdp_alu(struct xdp_writer *w, uint8_t how, unsigned to, int32_t value)
{
	xdp_put(w, BPF_ALU64 | BPF_K | how, to, 0, 0, value);
}

void
xdp_alu_of(struct xdp_writer *w, uint8_t how, unsigned to, unsigned from)
{
	xdp_put(w, BPF_ALU64 | BPF_X | how, to, from, 0, 0);
}

void
xdp_turn(struct xdp_writer *w, unsigned r)
{
	xdp_put(w, BPF_ALU | BPF_END | BPF_TO_BE, r, 0, 0, 16);
}

void
xdp_jump_by(struct xdp_writer *w, uint8_t how, unsigned r, unsigned other,
    enum xdp_label l)
{
	w->to[w->p->count] = (unsigned char)l;
	xdp_put(w, BPF_JMP | BPF_X | how, r, other, 0, 0);
}

void
xdp_put_map(struct xdp_writer *w, int fd)
{
	xdp_put(
	    w, BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, fd);
	xdp_put(w, 0, 0, 0, 0, 0);
}

void
xdp_call(struct xdp_writer *w, unsigned from, int32_t function)
{
	xdp_put(w, BPF_JMP | BPF_CALL, 0, from, 0, function);
}

void
xdp_look_up(struct xdp_writer *w, int map, int key, enum xdp_label l)
{
	xdp_put_map(w, map);
	xdp_add(w, BPF_REG_2, BPF_REG_10, key);
	xdp_call(w, 0, BPF_FUNC_map_lookup_elem);
	w->to[w->p->count] = (unsigned char)l;
	xdp_put(w, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0);
}

void
xdp_end(struct xdp_writer *w, enum xdp_action verdict)
{
	xdp_set(w, BPF_REG_0, (int32_t)verdict);
	xdp_put(w, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

void
xdp_settle(struct xdp_writer *w)
{
	for (unsigned i = 0; i < w->p->count; i++)
		if (w->to[i] != XDP_HERE)
			w->p->at[i].off = (int16_t)(w->place[w->to[i]] - i - 1);
}
