/** Determines how a consent banner is answered before the first step. */
export interface Consent {
  mode: 'none' | 'accept' | 'deny'
  /**
   * CSS selectors of the buttons to click, in this order. If empty, buttons of known banners are clicked or, without a
   * match, buttons with known labels.
   */
  selectors: readonly string[]
}
