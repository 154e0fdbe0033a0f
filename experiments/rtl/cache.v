// A direct-mapped write-back cache, MSI, two words per line, with a write-back buffer for one evicted line.
//
// The core holds its request until `ack`; the operation takes effect in that cycle. Hits are served at once, misses
// in the data phase of the bus transaction, so that no other core can take the line away content it was used.
`include "faults.vh"
`include "codes.vh"
module cache #(parameter LINES = 2, parameter LINE = 2, parameter FAULT = 0) (
    input clk, input reset,
    input request, input [1:0] op, input [LINE:0] address, input [15:0] value,
    output ack, output [15:0] result,
    output bus_request, output [1:0] bus_command, output [LINE-1:0] bus_line, output [31:0] bus_write,
    input snooped,   // address phase of another cache's transaction
    input accepted,  // address phase of one of ours
    input filled,    // data phase of one of ours
    input [1:0] command, input [LINE-1:0] line, input [31:0] bus_data,
    output supply, output [31:0] supplied
);
    localparam INVALID = 0, SHARED = 1, MODIFIED = 2;
    localparam INDEX = $clog2(LINES);

    reg [1:0] state [0:LINES-1];
    reg [LINE-1:0] tag [0:LINES-1];
    reg [31:0] data [0:LINES-1];
    reg victim;
    reg [LINE-1:0] victim_line;
    reg [31:0] victim_data;

    // The core's side.
    wire [LINE-1:0] wanted = address[LINE:1];
    wire [INDEX-1:0] index = wanted[INDEX-1:0];
    wire writes = op == `WRITE || op == `RMW;
    wire exclusive = FAULT == `SHARED_RMW ? op == `WRITE : writes;
    wire hit = state[index] != INVALID && tag[index] == wanted;
    wire permitted = hit && (!exclusive || state[index] == MODIFIED || FAULT == `SILENT_UPGRADE);
    wire clash = snooped && line == wanted && FAULT != `LOST_WRITE;
    wire hit_now = request && permitted && !clash;
    wire fill_now = filled && command != `BUS_WB;
    wire [31:0] content = fill_now && command != `BUS_UPGR ? bus_data : data[index];
    wire [31:0] merged = address[0] ? {value, content[15:0]} : {content[31:16], value};
    assign ack = hit_now || fill_now;
    assign result = address[0] ? content[31:16] : content[15:0];

    // The bus's side. The evicted line goes first: nothing is asked for while it waits.
    reg was_shared;  // the copy that was there when the miss began
    reg waiting;
    wire upgrade = FAULT == `STALE_UPGRADE && waiting ? was_shared : hit;
    assign bus_request = victim || (request && !permitted);
    assign bus_command = victim ? `BUS_WB : !exclusive ? `BUS_RD : upgrade ? `BUS_UPGR : `BUS_RDX;
    assign bus_line = victim ? victim_line : wanted;
    assign bus_write = victim_data;

    wire [INDEX-1:0] place = line[INDEX-1:0];
    wire heard = snooped && command != `BUS_WB && !(command == `BUS_UPGR && FAULT == `UNSNOOPED_UPGRADE);
    wire snoop_hit = heard && state[place] != INVALID && tag[place] == line;
    wire victim_hit = heard && victim && victim_line == line && FAULT != `UNSNOOPED_VICTIM;
    wire dirty_hit = snoop_hit && state[place] == MODIFIED;
    assign supply = victim_hit || (dirty_hit && !(command == `BUS_RDX && FAULT == `UNFLUSHED_INVALIDATE));
    assign supplied = victim_hit ? victim_data : data[place];

    wire evicts = fill_now && state[index] == MODIFIED && tag[index] != wanted && FAULT != `LOST_WRITE_BACK;
    wire keeps_tag = FAULT == `STALE_TAG && state[index] != INVALID;
    wire keeps_copy = FAULT == `MISSING_INVALIDATION && command == `BUS_RDX && !dirty_hit;

    integer i;
    always @(posedge clk) begin
        waiting <= request && !ack && !permitted;
        if (!waiting) was_shared <= hit;
        if (ack && writes) begin
            data[index] <= merged;
            state[index] <= MODIFIED;
        end else if (fill_now) begin
            data[index] <= content;
            state[index] <= FAULT == `MODIFIED_FILL ? MODIFIED : SHARED;
        end
        if (fill_now && !keeps_tag) tag[index] <= wanted;
        if (evicts) begin
            victim <= 1;
            victim_line <= FAULT == `WRONG_WRITE_BACK ? wanted : tag[index];
            victim_data <= data[index];
        end
        if (snoop_hit && command == `BUS_RD && FAULT != `MISSING_DOWNGRADE) state[place] <= SHARED;
        if (snoop_hit && command != `BUS_RD && !keeps_copy) state[place] <= INVALID;
        if (victim_hit || (accepted && command == `BUS_WB)) victim <= 0;
        if (reset) begin
            victim <= 0;
            waiting <= 0;
            for (i = 0; i < LINES; i = i + 1) begin  // the data too: a history must not depend on the one before it
                state[i] <= INVALID;
                data[i] <= 0;
            end
        end
    end
endmodule
