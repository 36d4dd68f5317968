import type { DecodedEvent, Decoder } from './decoder.ts'
import { isJson, readJsonObjects } from './json.ts'
import { scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** The account is the project, usually the website's domain. */
export const woopra: Decoder = {
  vendor: 'Woopra',
  source: 'https://docs.woopra.com/',
  hosts: ['woopra.com'],
  routes: [
    { path: /^\/track\/(?:ce|identify|push)\/?$/, read: readCall },
    // Reports that the visitor is still on the page, and links through which the visitor left the site.
    sideChannel(/^\/track\/\w+\/?$/),
    scriptLoad(/^\/(?:js\/)?(?:w|wpt\.min|t\/\d+)\.js$/),
  ],
}

/** Reads a call. All parameters are in the query, or in JSON if a server sent the call. */
function* readCall({ path, body, fields }: VendorRequest): Iterable<DecodedEvent> {
  const kind = /^\/track\/(\w+)/.exec(path)?.[1] ?? ''
  for (const sent of isJson(body) ? readJsonObjects(body) : [fields]) {
    const event = scalarText(sent.event ?? sent.ce_name) || (kind === 'ce' ? '' : 'identify')
    yield { event, account: scalarOrNull(sent.project ?? sent.alias ?? sent.host ?? sent.website), params: sent }
  }
}
