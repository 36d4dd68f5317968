import type { Browser, Page } from 'puppeteer-core'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { Traffic } from './traffic.ts'

/**
 * Screen of the browser: `desktop` is 1,280 × 800; `mobile` is a phone of 390 × 844 with touch and a phone's user
 * agent.
 */
export type Device = 'desktop' | 'mobile' | { width: number; height: number; mobile?: boolean }

/**
 * `answer`: requests recognised by a decoder are answered inside the browser and never sent to the vendor. `send`: they
 * are sent.
 */
export type VendorRequests = 'answer' | 'send'

/** Options for opening a browser. They are plain data, because they are sent through a pipe. */
export interface BrowsingOptions {
  /** Path of the Chromium executable. */
  chromium: string
  /**
   * An empty folder for the profile, downloads and temporary files. The caller must remove it after the browser has
   * exited.
   */
  folder: string
  device: Device
  vendorRequests: VendorRequests
  /** Secrets that must not appear in any stored or displayed text. */
  secrets: readonly string[]
  /** Privacy settings that determine which personal data is covered in screenshots. */
  privacy: Privacy
  /** Value of `TAGWARDEN_OUTBOUND_ALLOW`. */
  outboundAllow: readonly string[]
  /** Value of `TAGWARDEN_OUTBOUND_PROXY`. Empty for none. */
  outboundProxy: string
  /**
   * Value of `TAGWARDEN_OUTBOUND_CA`: additional certificate authorities in PEM format that the browser trusts. Empty
   * for none.
   */
  outboundCa: string
  /** Appended to the browser's user agent after a space. Empty to append nothing. */
  userAgentSuffix: string
}

/** A separate Chromium. All of its requests are recorded, and checked by the guard. */
export interface Browsing extends AsyncDisposable {
  browser: Browser
  /** The first tab: a blank page with the device emulated. */
  page: Page
  traffic: Traffic
  /** URL of the guard's proxy, for requests made outside the browser: `http://127.0.0.1:<port>`. */
  proxy: string
  /**
   * Returns why the last connection to the URL's host and port failed, without a full stop. Null when that connection
   * succeeded or none was attempted.
   */
  faultOf(url: string): string | null
  /** Open tabs, oldest first. A tab opened by a page is included once the device is emulated in it. */
  tabs(): readonly Page[]
  /** Returns the text with secrets replaced by `***`. */
  mask(text: string): string
  /**
   * Returns a PNG of the page's viewport, with secrets and personal data in texts and fields covered. Rejects when the
   * page hangs.
   */
  screenshot(page: Page): Promise<Uint8Array>
  /** Resolves with the reason when the browser crashes or is killed. Otherwise, never resolves. */
  readonly gone: Promise<string>
}
