import type { StoredPage } from './stored-page-view.ts'

/** Returns a row with defaults for missing fields: received at 0, organization `org_1`, domain `dom_1`. */
export function plainPage(fields: Partial<StoredPage> = {}): StoredPage {
  const { receivedAt = 0 } = fields
  return {
    page: 1,
    ts: receivedAt,
    receivedAt,
    orgId: 'org_1',
    domainId: 'dom_1',
    env: 'prod',
    host: null,
    path: null,
    sessionId: null,
    version: null,
    weight: 1,
    loaf: true,
    vendor: 'Google Tag Manager',
    vendorHost: 'www.googletagmanager.com',
    requests: 1,
    durMs: [12.5],
    blockMs: 0,
    bytes: null,
    ...fields,
  }
}
