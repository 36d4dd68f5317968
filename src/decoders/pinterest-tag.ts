import type { DecodedEvent, Decoder } from './decoder.ts'
import { bracketed } from './json.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad, serverEvents, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

export const pinterestTag: Decoder = {
  vendor: 'Pinterest Tag',
  source: 'https://help.pinterest.com/en/business/article/add-event-codes',
  hosts: ['ct.pinterest.com', 's.pinimg.com', 'api.pinterest.com'],
  routes: [
    { path: /^\/(?:v3\/?)?$/, read: readEvent },
    // https://developers.pinterest.com/docs/api/v5/events-create
    serverEvents(/^\/v5\/ad_accounts\/(?<account>\d+)\/events\/?$/, { list: 'data', event: 'event_name' }),
    // Identity sync, and data that the tag found in the page's markup.
    sideChannel(/^\/(?:user|md|stats)\/?$/),
    scriptLoad(/^\/(?:ct\/.+\.js|ct\.html)$/),
  ],
}

/**
 * Three parameters contain JSON: data on the event (`ed`), the person (`pd`) and the page (`ad`). Image tags send the
 * same data as `ed[value]`, so JSON is converted to that form.
 */
function readEvent({ fields }: VendorRequest): DecodedEvent[] {
  const params: Record<string, unknown> = { ...fields }
  for (const key of ['ed', 'pd', 'ad']) {
    const inner = bracketed(key, fields[key])
    if (Object.keys(inner).length > 0) delete params[key]
    Object.assign(params, inner)
  }
  return [{ event: fields.event ?? '', account: scalarOrNull(fields.tid), params }]
}
