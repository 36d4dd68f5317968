import type { Browser, Page } from 'puppeteer-core'
import type { Privacy } from '../conditions/privacy.ts'
import type { Traffic } from './traffic.ts'

/** `desktop` is 1,280 × 800, `mobile` a phone of 390 × 844 with touch and its user agent. */
export type Device = 'desktop' | 'mobile' | { width: number; height: number; mobile?: boolean }

/** `answer`: requests known to a decoder are answered inside the browser and do not leave; `send`: they leave. */
export type VendorRequests = 'answer' | 'send'

/** Options for opening a browser. Plain data, because it is sent through a pipe. */
export interface BrowsingOptions {
  /** Path of the Chromium executable. */
  chromium: string
  /** An empty folder for the profile, downloads and temporary files; the caller removes it when the browser is gone. */
  folder: string
  device: Device
  vendorRequests: VendorRequests
  /** Texts that must not appear in any stored or displayed text. */
  secrets: readonly string[]
  /** Personal data in displayed texts, which is covered in screenshots. */
  privacy: Privacy
  /** `TAGWARDEN_OUTBOUND_ALLOW`. */
  outboundAllow: readonly string[]
  /** `TAGWARDEN_OUTBOUND_PROXY`; empty: none. */
  outboundProxy: string
  /** `TAGWARDEN_OUTBOUND_CA`: additional authorities that the browser trusts, as PEM; empty: none. */
  outboundCa: string
  /** Appended to the browser's user agent after a space; empty: nothing. */
  userAgentSuffix: string
}

/** A separate Chromium whose requests are all watched and judged by the guard. */
export interface Browsing extends AsyncDisposable {
  browser: Browser
  /** The first tab: blank, with the device set. */
  page: Page
  traffic: Traffic
  /** Address of the guard's proxy, for requests made outside the browser: `http://127.0.0.1:<port>`. */
  proxy: string
  /**
   * Returns why the last connection to the URL's host and port failed, without a full stop; null when it succeeded or
   * was never attempted.
   */
  faultOf(url: string): string | null
  /** Open tabs, oldest first. A tab opened by a page is included once it is ready, with the device set. */
  tabs(): readonly Page[]
  /** Texts with secrets masked: `***`. */
  mask(text: string): string
  /**
   * Returns a PNG of the page's viewport, with secrets and personal data in texts and fields covered. Rejects when the
   * page hangs.
   */
  screenshot(page: Page): Promise<Uint8Array>
  /** Resolves with the reason when the browser has crashed or was killed; otherwise never. */
  readonly gone: Promise<string>
}
