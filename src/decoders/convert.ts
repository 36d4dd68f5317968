import type { DecodedEvent, Decoder } from './decoder.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** The account consists of the account id and the project id, as in the script's file name. */
export const convert: Decoder = {
  vendor: 'Convert',
  source: 'https://github.com/convertcom/javascript-sdk',
  hosts: ['convertexperiments.com'],
  routes: [
    { path: /^\/(?:v1\/)?track(?:\/[\w/-]+)?$/, when: ({ host }) => host.includes('metrics'), read: readTrack },
    scriptLoad(/^\/(?:v1\/)?js\/(?<account>\d+-\d+)[\w-]*\.js$/),
    scriptLoad(/^\/api\/v1\/config\/(?<account>\d+\/\d+)/),
    { ...sideChannel(/^\//), when: ({ host }) => host.startsWith('logs.') },
  ],
}

/** `{accountId, projectId, visitors: [{visitorId, events: [{eventType, data}]}]}` */
function* readTrack({ json }: VendorRequest): Iterable<DecodedEvent> {
  const { accountId, projectId, source } = json
  const parts = [accountId, projectId].map(scalarText).filter(Boolean)
  const account = scalarOrNull(parts.join('-'))
  for (const { visitorId, segments, events } of objectsOf(json.visitors)) {
    for (const { eventType, data } of objectsOf(events)) {
      const params = { source, visitorId, segments, ...objectOf(data) }
      yield { event: scalarText(eventType), account, params }
    }
  }
}
