/** What is known of an element beside its selectors, to find it again after a release. */
export interface KnownElement {
  /** Its ARIA role, as Chromium computes it; empty when it has none. */
  role: string
  /** Its accessible name, at most 200 characters. */
  name: string
  /** Lower case. */
  tag: string
  /** Its own visible text, blanks collapsed, at most 200 characters. */
  text: string
  /** The frame in which it was; left out where the recording names none. */
  frame?: KnownFrame
}

/** What tells a frame from others, wherever it stands in its page. */
export interface KnownFrame {
  /** Of its element, at most 200 characters; empty when it has none. */
  name: string
  /** Host and path of its address, at most 200 characters; empty when that is none on the web. */
  place: string
}
