// A machine as a picture: what can be next, with the node where a plan is now in full colour.

import { fill, svg } from "./dom.js";

export class MachineView {
  constructor(host) {
    Object.assign(this, { host, nodes: [] });
    host.tabIndex = 0; // it may be wider than its room: keys scroll it
    host.setAttribute("role", "group");
    host.setAttribute("aria-label", "machine of the instruction");
  }

  set(machine) {
    const { width, height, nodes, edges } = machine;
    const last = nodes.length - 1;
    const named = (node, at) => (at === 0 ? "start" : at === last ? "done" : node.label);
    this.nodes = nodes.map((node, at) => {
      const box = { x: node.x - node.width / 2, y: node.y - node.height / 2, width: node.width, height: node.height, rx: 8 };
      const words = svg("text", { x: node.x, y: node.y, text: named(node, at) });
      return svg("g", { class: at === 0 || at === last ? "node outer" : "node" }, svg("rect", box), words);
    });
    const ways = edges.map(({ points }) => svg("path", { class: "edge", d: curve(points), "marker-end": "url(#arrow)" }));
    const arrow = svg("path", { d: "M0 0 8 4 0 8z", class: "tip" });
    const marker = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, arrow);
    const follows = edges.map(({ from, to }) => `${named(nodes[from], from)} before ${named(nodes[to], to)}`).join("; ");
    const look = { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `What comes when: ${follows}` };
    const drawn = svg("svg", look, svg("defs", {}, marker), ...ways, ...this.nodes);
    drawn.style.minWidth = `${0.75 * width}px`; // smaller nobody could read it: then it is scrolled
    drawn.style.maxWidth = `${width}px`;
    fill(this.host, drawn);
    this.host.hidden = false;
  }

  /** Light the node with that number; null: none. */
  light(number) {
    this.nodes.forEach((node, at) => node.classList.toggle("now", at === number));
    const node = this.nodes[number];
    if (!node) return;
    const box = node.getBoundingClientRect(), room = this.host.getBoundingClientRect();
    if (box.left < room.left || box.right > room.right) this.host.scrollLeft += box.left - room.left - 20;
  }
}

/** Through the points, leaving and arriving sideways. */
function curve(points) {
  return points.reduce((path, [x, y], at) => {
    if (at === 0) return `M${x} ${y}`;
    const [beforeX, beforeY] = points[at - 1], middle = (x + beforeX) / 2;
    return path + (y === beforeY ? `L${x} ${y}` : `C${middle} ${beforeY} ${middle} ${y} ${x} ${y}`);
  }, "");
}
