import type { DecodedEvent, Decoder } from './decoder.ts'
import { fromBase64, isJson, readJsonObjects } from './json.ts'
import { objectOf, objectsOf, scalarOrNull, scalarText, sharedOf } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Formerly Evergage and Interaction Studio, and its successor on Data Cloud. */
export const salesforcePersonalization: Decoder = {
  vendor: 'Salesforce Personalization',
  source: 'https://developer.salesforce.com/docs/marketing/personalization/guide/event-api.html',
  hosts: ['evergage.com', 'evgnet.com', 'c360a.salesforce.com'],
  routes: [
    { path: /^\/api2\/(?:auth)?event\/[\w-]+$/, read: readEvents },
    { path: /^\/web\/events\/[\w-]+$/, read: readEvents },
    { path: /^\/twreceiver$/, read: readReceived },
    sideChannel(/^\/(?:msreceiver|pr)$/),
    scriptLoad(/^\/beacon\/(?<account>[\w-]+\/[\w-]+)\/scripts\/[\w.-]+\.js$/),
  ],
}

/** One event, or `{"events": […]}`. If it is in the parameter `event`, it is in base64. */
function* readEvents({ host, path, query, fields, body }: VendorRequest): Iterable<DecodedEvent> {
  const text = isJson(body) ? body : fromBase64(query.event ?? fields.event ?? '')
  // An account has several data sets, and each has a different path.
  const account = `${host.split('.', 1)[0]}/${path.split('/').at(-1)}`
  for (const { events, ...sent } of readJsonObjects(text)) {
    if (events === undefined) yield toEvent(account, sent)
    const shared = sharedOf(sent)
    for (const event of objectsOf(events)) yield toEvent(account, { ...shared, ...event })
  }
}

/** Reads an event in the previous format. */
function readReceived({ fields }: VendorRequest): DecodedEvent[] {
  return [{ event: fields.action ?? '', account: `${fields._ak ?? ''}/${fields._ds ?? ''}`, params: fields }]
}

function toEvent(account: string, sent: Record<string, unknown>): DecodedEvent {
  const { action, interaction, eventType, itemAction } = sent
  const named = [action, objectOf(interaction).name, interaction, eventType, itemAction].map(scalarOrNull)
  return { event: scalarText(named.find(Boolean)), account, params: sent }
}
