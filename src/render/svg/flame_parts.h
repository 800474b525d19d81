/* flame_parts.h - flame.css and flame.js, compiled in. */
#pragma once

extern const unsigned char flame_style[], flame_script[];
extern const unsigned long flame_style_len, flame_script_len;
