/** Properties of an element other than its selectors, by which it can be found again after a release. */
export interface KnownElement {
  /** ARIA role as computed by Chromium; empty when it has none. */
  role: string
  /** Accessible name, at most 200 characters. */
  name: string
  /** Tag name in lower case. */
  tag: string
  /** Visible text of the element with whitespace collapsed, at most 200 characters. */
  text: string
  /** The frame that contains the element. Undefined when the recording specifies no frame. */
  frame?: KnownFrame
}

/** Properties that identify a frame regardless of its position on the page. */
export interface KnownFrame {
  /** Name of the frame element, at most 200 characters; empty when it has none. */
  name: string
  /** Host and path of the frame's URL, at most 200 characters. Empty when the URL is not a web address. */
  place: string
}
