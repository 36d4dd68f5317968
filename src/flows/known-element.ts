/** Properties of an element besides its selectors, used to find it again after a release. */
export interface KnownElement {
  /** Its ARIA role, as Chromium computes it; empty when it has none. */
  role: string
  /** Its accessible name, at most 200 characters. */
  name: string
  /** Lower case. */
  tag: string
  /** Its own visible text, blanks collapsed, at most 200 characters. */
  text: string
  /** The frame that contained it; absent when the recording names none. */
  frame?: KnownFrame
}

/** Properties that distinguish a frame from others, wherever it is on the page. */
export interface KnownFrame {
  /** Name of its element, at most 200 characters; empty when it has none. */
  name: string
  /** Host and path of its address, at most 200 characters; empty when it is not a web address. */
  place: string
}
