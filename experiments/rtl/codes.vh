// Operations as gradual numbers them, and the commands of the bus.
`ifndef CODES
`define CODES
`define READ 2'd0
`define WRITE 2'd1
`define RMW 2'd2
`define FENCE 2'd3
`define BUS_RD 2'd0
`define BUS_RDX 2'd1
`define BUS_UPGR 2'd2
`define BUS_WB 2'd3
`endif
