import type { Browser, Page } from 'puppeteer-core'
import type { Privacy } from '../conditions/privacy.ts'
import type { Traffic } from './traffic.ts'

/** `desktop` is 1,280 × 800, `mobile` a phone of 390 × 844 with touch and its user agent. */
export type Device = 'desktop' | 'mobile' | { width: number; height: number; mobile?: boolean }

/** `answer`: what a decoder knows is answered inside the browser and does not leave; `send`: it leaves. */
export type VendorRequests = 'answer' | 'send'

/** How a browser is opened. A value that goes through a pipe: no functions. */
export interface BrowsingOptions {
  /** Path of the Chromium executable. */
  chromium: string
  /** An empty folder for the profile, downloads and temporary files; the caller removes it when the browser is gone. */
  folder: string
  device: Device
  vendorRequests: VendorRequests
  /** Texts that must stand in nothing that is kept or shown. */
  secrets: readonly string[]
  /** What is personal in texts that are shown; it is covered in screenshots. */
  privacy: Privacy
  /** `TAGWARDEN_OUTBOUND_ALLOW`. */
  outboundAllow: readonly string[]
  /** `TAGWARDEN_OUTBOUND_PROXY`; empty: none. */
  outboundProxy: string
  /** `TAGWARDEN_OUTBOUND_CA`: authorities that the browser trusts beside its own, as PEM; empty: none. */
  outboundCa: string
  /** Added to the user agent of the browser, after a blank; empty: nothing. */
  userAgentSuffix: string
}

/** A Chromium of its own, with everything it sends watched, and judged by the guard. */
export interface Browsing extends AsyncDisposable {
  browser: Browser
  /** The first tab: blank, with the device set. */
  page: Page
  traffic: Traffic
  /** Address of the guard's proxy, for what is asked for beside the browser: `http://127.0.0.1:<port>`. */
  proxy: string
  /**
   * Returns why the last connection to the URL's host and port was not made, as a sentence without its full stop; null when it was made, or
   * never asked for.
   */
  faultOf(url: string): string | null
  /** Open tabs, oldest first. A tab that a page opened is in it once it may be used, with the device set. */
  tabs(): readonly Page[]
  /** Texts with secrets masked: `***`. */
  mask(text: string): string
  /** A PNG of what the page's viewport shows, with secrets and personal data in texts and fields covered. Fails when the page hangs. */
  screenshot(page: Page): Promise<Uint8Array>
  /** Resolves with why, when the browser is gone: it crashed or was killed. Never otherwise. */
  readonly gone: Promise<string>
}
