/** How a consent banner is answered before the first step. */
export interface Consent {
  mode: 'none' | 'accept' | 'deny'
  /**
   * CSS selectors of buttons to click, in this order. If empty, buttons of known banners are clicked, or else buttons
   * with known labels.
   */
  selectors: readonly string[]
}
