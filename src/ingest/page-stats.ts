import type { StoredPage } from '../core/page.ts'
import { vendorOfHost } from '../decoders/index.ts'
import { cleanText } from '../decoders/params.ts'
import { thirdPartyOf } from '../decoders/third-party.ts'
import type { NameVendor } from '../domains/vendor-pattern.ts'
import type { PageVendorItem } from './batch.ts'

/** The fields that all rows of one page view share. */
export type PageFrame = Omit<StoredPage, 'vendor' | 'vendorHost' | 'requests' | 'durMs' | 'blockMs' | 'bytes'>

/** Returns one row for each vendor's host; one row without a vendor for a page that called none. */
export function pagesOf(frame: PageFrame, vendors: readonly PageVendorItem[], nameVendor: NameVendor): StoredPage[] {
  if (vendors.length === 0) {
    return [{ ...frame, vendor: '', vendorHost: '', requests: 0, durMs: [], blockMs: null, bytes: null }]
  }
  return vendors.map(({ host, requests, durMs = [], blockMs, bytes = null }) => {
    const vendorHost = cleanText(host.toLowerCase())
    return {
      ...frame,
      vendor:
        nameVendor(`https://${vendorHost}/`) ?? vendorOfHost(vendorHost) ?? thirdPartyOf(vendorHost) ?? vendorHost,
      vendorHost,
      requests,
      durMs,
      blockMs: frame.loaf ? (blockMs ?? 0) : null,
      bytes,
    }
  })
}
