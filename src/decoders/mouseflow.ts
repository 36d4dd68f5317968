import type { DecodedEvent, Decoder } from './decoder.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Recordings have no event names. The wire format is not documented. */
export const mouseflow: Decoder = {
  vendor: 'Mouseflow',
  source: 'https://help.mouseflow.com/en/articles/4274616-content-security-policy-csp',
  hosts: ['mouseflow.com'],
  routes: [
    { path: /^\/init$/, when: isCollector, read: readStart },
    { ...sideChannel(/^\//), when: isCollector },
    {
      ...scriptLoad(/^\/projects\/(?<account>[0-9a-f]{8}-[0-9a-f-]{27})(?:_\w+)?\.js$/),
      when: ({ host }) => host.startsWith('cdn'),
    },
  ],
}

/** True for the host of a collector. Each region has a different one: `o2.`, `n2.`, `eu.`, … */
function isCollector({ host }: VendorRequest): boolean {
  return /^[a-z]\d\./.test(host)
}

/** Reads the request that is sent when the recording of a page starts. */
function readStart({ fields }: VendorRequest): DecodedEvent[] {
  return [{ event: 'init', account: scalarOrNull(fields.w ?? fields.websiteId ?? fields.website), params: fields }]
}
