// Cores with their caches on one bus: an SC machine, or with BUFFERS = 1 a TSO machine.
//
// The test bench sets `programs`, `seed` and `pace` and raises `number`; the machine resets itself, runs, and raises
// `done`, or `hung` as well if the programs do not end.
module machine #(parameter CORES = 2, parameter OPS = 16, parameter ADDRESS = 3, parameter LINES = 2,
                 parameter BUFFERS = 0, parameter FAULT = 0);
    localparam LINE = ADDRESS - 1;
    localparam PATIENCE = 400;  // cycles per operation

    reg clk = 0;
    always #1 clk = ~clk;

    reg [31:0] number = 0;
    reg [31:0] seed = 1;
    reg [3:0] pace = 0;
    reg [CORES*OPS*8-1:0] programs = 0;
    reg done = 0;
    reg hung = 0;

    reg [31:0] current = 0;
    reg [31:0] cycles = 0;
    wire reset = number != current;
    wire [CORES-1:0] ended;

    // xorshift: the pauses of the cores, the arbitration and the latency of memory
    reg [31:0] random = 1;
    reg [31:0] next;
    always @(posedge clk) begin
        next = random ^ (random << 13);
        next = next ^ (next >> 17);
        random <= reset ? seed : next ^ (next << 5);
    end

    always @(posedge clk) begin
        current <= number;
        cycles <= reset ? 0 : cycles + 1;
        hung <= !reset && cycles > PATIENCE * CORES * OPS;
        done <= !reset && (&ended || cycles > PATIENCE * CORES * OPS);
    end

    wire [CORES-1:0] requests, supplies, snooped, accepted, filled;
    wire [CORES*2-1:0] commands;
    wire [CORES*LINE-1:0] lines;
    wire [CORES*32-1:0] writes, supplied;
    wire [1:0] command;
    wire [LINE-1:0] line;
    wire [31:0] data;

    bus #(.CORES(CORES), .LINE(LINE), .FAULT(FAULT)) bus (
        .clk(clk), .reset(reset), .random(random[31:28]), .requests(requests), .commands(commands), .lines(lines),
        .writes(writes), .supplies(supplies), .supplied(supplied), .snooped(snooped), .accepted(accepted),
        .filled(filled), .command(command), .line(line), .data(data));

    genvar c;
    generate
        for (c = 0; c < CORES; c = c + 1) begin : node
            wire request, ack;
            wire [1:0] op;
            wire [ADDRESS-1:0] address;
            wire [15:0] value, result;
            core #(.ID(c), .OPS(OPS), .ADDRESS(ADDRESS), .BUFFERS(BUFFERS), .FAULT(FAULT)) core (
                .clk(clk), .reset(reset), .random(random[c*7 +: 6]), .pace(pace),
                .instructions(programs[c*OPS*8 +: OPS*8]), .done(ended[c]),
                .request(request), .op(op), .address(address), .value(value), .ack(ack), .result(result));
            cache #(.LINES(LINES), .LINE(LINE), .FAULT(FAULT)) cache (
                .clk(clk), .reset(reset), .request(request), .op(op), .address(address), .value(value), .ack(ack),
                .result(result), .bus_request(requests[c]), .bus_command(commands[c*2 +: 2]),
                .bus_line(lines[c*LINE +: LINE]), .bus_write(writes[c*32 +: 32]), .snooped(snooped[c]),
                .accepted(accepted[c]), .filled(filled[c]), .command(command), .line(line), .bus_data(data),
                .supply(supplies[c]), .supplied(supplied[c*32 +: 32]));
        end
    endgenerate
endmodule
