// flame.js - zoom, search, tooltips and keys of a flame graph; it stands inside the SVG.
//
// The picture is drawn again from the numbers in the JSON script element, to the width of the
// window, so zooming shows what was too narrow before.  Boxes are in the order of a walk from the
// root; `end[i]` is the first box that is not below box i, so what is too narrow is skipped with
// all that is above it.  Nothing is loaded from anywhere.
(() => {
	"use strict";
	const svg = (document.currentScript && document.currentScript.closest("svg")) ||
		document.documentElement;
	const data = JSON.parse(svg.querySelector("script[type='application/json']").textContent);
	const SVG = "http://www.w3.org/2000/svg", XHTML = "http://www.w3.org/1999/xhtml";
	const ROW = 18, PAD = 10, NARROWEST = 0.4, TEXT_FROM = 24;
	const count = data.depth.length;
	for (const side of [data.a, data.b])
		for (const key of side ? ["total", "self"] : [])
			side[key] = side[key] || side[`${key}Samples`].map((n) => n * side.each);
	const share = (side, i) => side.whole ? side.total[i] / side.whole : 0;
	const wide = data.depth.map((_, i) =>
		data.b ? (share(data.a, i) + share(data.b, i)) / 2 : share(data.a, i));
	const parent = new Int32Array(count), end = new Int32Array(count);
	const left = new Float64Array(count), used = new Float64Array(count);
	const hit = new Uint8Array(count);
	const frames = svg.querySelector(".frames"), foot = svg.querySelector(".foot");
	let view = 0, here = 0, icicle = data.icicle, width = data.size;
	let drawn = new Map(); // box to its element

	const path = [];
	for (let i = 0; i < count; i++) {
		while (path.length > data.depth[i])
			end[path.pop()] = i;
		parent[i] = path.length ? path[path.length - 1] : -1;
		if (parent[i] >= 0) {
			left[i] = left[parent[i]] + used[parent[i]];
			used[parent[i]] += wide[i];
		}
		path.push(i);
	}
	while (path.length)
		end[path.pop()] = count;

	const name = (i) => i ? data.labels[data.label[i]].name : "all";
	const number = (n) => n.toLocaleString("en-US");
	const percent = (part) => `${(part * 100).toFixed(part < 0.0995 ? 2 : 1)} %`;
	const colour = (i) => !data.b ? i ? data.labels[data.label[i]].class : "r0" :
		data.change[i] ? `${data.change[i] > 0 ? "p" : "m"}${Math.abs(data.change[i])}` : "z0";
	const isInlined = (i) => data.inlined[i] === "1";
	// A mouse needs no ring around the box it clicked.
	const hasKeys = () => document.activeElement === frames && frames.matches(":focus-visible");
	const make = (tag, attributes, space = SVG) => {
		const element = document.createElementNS(space, tag);
		for (const key in attributes)
			element.setAttribute(key, attributes[key]);
		return element;
	};

	// ---- words ----
	const amount = (side, key, i) => {
		const samples = side[`${key}Samples`][i];
		let text = `${number(samples)} ${samples === 1 ? "sample" : "samples"}`;
		if (!samples)
			return text;
		if (side.unit === "ns")
			text += ` (${time(side[key][i])})`;
		else if (side.unit !== "samples")
			text += ` (${number(side[key][i])} ${side.unit})`;
		return `${text}, ${percent(side.whole ? side[key][i] / side.whole : 0)}`;
	};
	function time(ns) {
		for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
			if (ns >= size)
				return `${(ns / size).toPrecision(3)} ${unit}`;
		return `${ns} ns`;
	}
	function place(i) {
		const label = i ? data.labels[data.label[i]] : {};
		const words = [];
		if (label.module)
			words.push(label.module);
		if (label.file)
			words.push(label.file + (label.line ? `:${label.line}` : ""));
		if (isInlined(i))
			words.push("inlined");
		return words.join(" · ");
	}
	function describe(i) {
		const lines = [];
		if (data.b) {
			const a = share(data.a, i), b = share(data.b, i);
			const points = ((b - a) * 100).toFixed(2);
			lines.push(`before ${amount(data.a, "total", i)}`,
				`after ${amount(data.b, "total", i)}`,
				`${b >= a ? "+" : ""}${points} points${data.change[i] ? "" : ", within chance"}`);
		} else {
			lines.push(amount(data.a, "total", i), `self ${amount(data.a, "self", i)}`);
			if (view)
				lines.push(`${percent(wide[i] / wide[view])} of this view`);
		}
		if (place(i))
			lines.push(place(i));
		return lines;
	}

	// The end of a name says most: first the arguments go, then what stands between < and >, then
	// the scopes from the outside in.
	function shorten(text, letters) {
		if (text.length <= letters)
			return text;
		const bare = text.replace(/\([^()]*\)( const)?$/, "");
		let plain = "", depth = 0;
		for (const c of bare) {
			depth += c === "<";
			if (!depth)
				plain += c;
			depth -= c === ">" && depth > 0;
		}
		const shorter = [bare];
		for (let at = 0; plain.trim() && at >= 0;) {
			shorter.push(plain.slice(at));
			at = plain.indexOf("::", at + 1);
		}
		return shorter.find((name) => name.length <= letters) ||
			`${[...text].slice(0, letters - 1).join("")}…`;
	}

	// ---- drawing ----
	function box(i, x, pixels, row, rows) {
		const y = (icicle ? row : rows - 1 - row) * ROW;
		const group = make("g", { class: `f ${colour(i)}${isInlined(i) ? " i" : ""}`,
			role: "treeitem", "aria-level": data.depth[i] + 1 });
		group.classList.toggle("thin", pixels < 3);
		group.append(make("rect", { x: x.toFixed(2), y, width: pixels.toFixed(2),
			height: ROW - 1, rx: pixels > 6 ? 2 : 0 }));
		const letters = Math.floor((pixels - 7) / letter);
		if (pixels >= TEXT_FROM && letters >= 3) {
			const text = make("text", { x: (x + 4).toFixed(2), y: y + 12.5 });
			text.textContent = shorten(name(i), letters);
			group.append(text);
		}
		group.classList.toggle("above", i < view && end[i] > view);
		group.classList.toggle("hit", hit[i] === 1);
		group.classList.toggle("here", i === here && hasKeys());
		group.box = i;
		drawn.set(i, group);
		return group;
	}

	function draw() {
		const scale = width / wide[view], list = [];
		let rows = data.depth[view] + 1;
		for (let i = view; i < end[view];) {
			const pixels = wide[i] * scale;
			if (pixels < NARROWEST) {
				i = end[i];
				continue;
			}
			list.push([i, (left[i] - left[view]) * scale, pixels]);
			rows = Math.max(rows, data.depth[i] + 1);
			i++;
		}
		for (let i = parent[view]; i >= 0; i = parent[i])
			list.push([i, 0, width]);
		drawn = new Map();
		const group = document.createDocumentFragment();
		for (const [i, x, pixels] of list)
			group.append(box(i, x, pixels, data.depth[i], rows));
		frames.replaceChildren(group);
		arrange(rows * ROW);
	}

	const letter = (() => {
		const text = make("text", { visibility: "hidden" });
		text.textContent = "0".repeat(50);
		svg.append(text);
		const length = text.getComputedTextLength() / 50;
		text.remove();
		return length || 6.7;
	})();

	function arrange(high) {
		const top = data.top, full = width + 2 * PAD, height = top + high + data.foot;
		svg.setAttribute("width", full);
		svg.setAttribute("height", height);
		svg.setAttribute("viewBox", `0 0 ${full} ${height}`);
		foot.setAttribute("transform", `translate(0 ${top + high})`);
		for (const holder of [bar, status])
			holder.parentNode.setAttribute("width", width);
		reset.disabled = !view;
	}

	// ---- controls ----
	function holder(y, height) {
		const outer = make("foreignObject", { x: PAD, y, width: data.size, height });
		svg.insertBefore(outer, frames);
		return outer;
	}
	function control(tag, attributes, text) {
		const element = make(tag, attributes, XHTML);
		if (text)
			element.textContent = text;
		bar.append(element);
		return element;
	}
	svg.querySelector(".hint").remove();
	const bar = make("div", { class: "bar" }, XHTML);
	const status = make("div", { class: "status", role: "status", "aria-live": "polite" }, XHTML);
	holder(52, 34).append(bar);
	holder(86, 22).append(status);
	const search = control("input", { type: "search", placeholder: "search: name or regex (Ctrl-F)",
		"aria-label": "search functions, a name or a regular expression", spellcheck: "false" });
	const reset = control("button", { type: "button" }, "reset zoom");
	const flip = control("button", { type: "button" }, "flip");
	const matched = control("output", {});

	// A box that matches counts with all above it, so recursion counts once.
	function find() {
		const text = search.value.trim();
		let pattern = null, weight = 0, boxes = 0;
		hit.fill(0);
		if (text) {
			try {
				pattern = new RegExp(text, "i");
			} catch {
				pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
			}
		}
		const match = pattern ? data.labels.map((label) => pattern.test(label.name)) : [];
		for (let i = 1, counted = 0; pattern && i < count; i++) {
			if (!match[data.label[i]])
				continue;
			hit[i] = 1;
			boxes++;
			if (i >= counted) {
				weight += wide[i];
				counted = end[i];
			}
		}
		const least = data.leftOut ? "at least " : "";
		matched.textContent = !pattern ? "" : !boxes ? "no match" :
			`matched ${least}${percent(weight / wide[0])} in ${number(boxes)} boxes`;
		for (const [i, element] of drawn)
			element.classList.toggle("hit", hit[i] === 1);
	}

	function say(i) {
		status.textContent = i < 0 ? data.help : [name(i), ...describe(i)].join("  ·  ");
	}
	function zoom(i) {
		view = i;
		here = i;
		draw();
		say(i);
		scroll();
	}
	function scroll() { // the root is below: start there
		if (!icicle && svg === document.documentElement)
			window.scrollTo(0, document.documentElement.scrollHeight);
	}

	// ---- tooltip ----
	const tipBox = make("foreignObject", { width: 460, height: 400, visibility: "hidden",
		"pointer-events": "none" });
	const tip = make("div", { class: "tip" }, XHTML);
	tipBox.append(tip);
	svg.append(tipBox);
	function showTip(i, clientX, clientY) {
		const title = make("b", {}, XHTML);
		title.textContent = name(i);
		tip.replaceChildren(title, `\n${describe(i).join("\n")}`);
		const frame = svg.getBoundingClientRect(), size = tip.getBoundingClientRect();
		const x = clientX - frame.left, y = clientY - frame.top;
		const right = Math.min(frame.width, window.innerWidth - frame.left);
		const bottom = Math.min(frame.height, window.innerHeight - frame.top);
		tipBox.setAttribute("x", Math.max(4, Math.min(x + 14, right - size.width - 6)));
		tipBox.setAttribute("y", y + 18 + size.height > bottom ?
			Math.max(2, y - size.height - 10) : y + 18);
		tipBox.setAttribute("visibility", "visible");
	}
	const hideTip = () => tipBox.setAttribute("visibility", "hidden");

	const boxOf = (event) => {
		const group = event.target.closest && event.target.closest(".f");
		return group && group.box !== undefined ? group.box : -1;
	};
	frames.addEventListener("mousemove", (event) => {
		const i = boxOf(event);
		if (i < 0) {
			hideTip();
			return;
		}
		say(i);
		showTip(i, event.clientX, event.clientY);
	});
	frames.addEventListener("mouseleave", () => {
		hideTip();
		say(-1);
	});
	frames.addEventListener("click", (event) => {
		const i = boxOf(event);
		if (i >= 0) {
			hideTip();
			zoom(i);
		}
	});

	// ---- keys ----
	function move(i) {
		if (i < 0 || !drawn.has(i))
			return;
		if (drawn.has(here))
			drawn.get(here).classList.remove("here");
		here = i;
		say(i);
		if (!hasKeys())
			return;
		const element = drawn.get(i);
		element.classList.add("here");
		element.scrollIntoView({ block: "nearest" });
		const at = element.getBoundingClientRect();
		showTip(i, at.left, at.top + ROW);
	}
	function sibling(i, step) {
		if (parent[i] < 0)
			return -1;
		const all = [];
		for (let k = parent[i] + 1; k < end[parent[i]]; k = end[k])
			if (drawn.has(k))
				all.push(k);
		const at = all.indexOf(i) + step;
		return at >= 0 && at < all.length ? all[at] : -1;
	}
	function widestChild(i) {
		let best = -1;
		for (let k = i + 1; k < end[i]; k = end[k])
			if (drawn.has(k) && (best < 0 || wide[k] > wide[best]))
				best = k;
		return best;
	}
	frames.addEventListener("keydown", (event) => {
		const inwards = icicle ? "ArrowDown" : "ArrowUp";
		const outwards = icicle ? "ArrowUp" : "ArrowDown";
		if (event.key === inwards)
			move(widestChild(here));
		else if (event.key === outwards)
			move(parent[here]);
		else if (event.key === "ArrowLeft")
			move(sibling(here, -1));
		else if (event.key === "ArrowRight")
			move(sibling(here, 1));
		else if (event.key === "Home")
			move(view);
		else if (event.key === "Enter" || event.key === " ")
			zoom(here);
		else
			return;
		event.preventDefault();
	});
	frames.addEventListener("focus", () => move(drawn.has(here) ? here : view));
	frames.addEventListener("blur", () => {
		hideTip();
		if (drawn.has(here))
			drawn.get(here).classList.remove("here");
	});
	window.addEventListener("keydown", (event) => {
		if ((event.ctrlKey || event.metaKey) && event.key === "f" &&
			document.activeElement !== search) {
			event.preventDefault();
			search.focus();
			search.select();
		} else if (event.key === "/" && document.activeElement !== search) {
			event.preventDefault();
			search.focus();
		} else if (event.key === "Escape") {
			if (search.value) {
				search.value = "";
				find();
			} else if (view) {
				zoom(0);
			}
			hideTip();
		}
	});
	search.addEventListener("input", find);
	reset.addEventListener("click", () => zoom(0));
	flip.addEventListener("click", () => {
		icicle = !icicle;
		draw();
		scroll();
	});

	function fit() {
		if (!data.fixed && svg === document.documentElement)
			width = Math.max(400, document.documentElement.clientWidth || window.innerWidth) -
				2 * PAD;
		draw();
	}
	window.addEventListener("resize", fit);
	frames.classList.add("on");
	frames.setAttribute("tabindex", "0");
	say(-1);
	fit();
	scroll();
})();
