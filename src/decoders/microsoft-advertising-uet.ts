import type { Decoder } from './decoder.ts'
import type { Params } from './params.ts'
import { pixel, scriptLoad, serverEvents, sideChannel } from './route-builders.ts'

export const microsoftAdvertisingUet: Decoder = {
  vendor: 'Microsoft Advertising UET',
  source: 'https://learn.microsoft.com/en-us/advertising/msa-help/hlp_ba_conc_uet_parameters_table',
  hosts: ['bat.bing.com', 'bat.bing.net', 'capi.uet.microsoft.com'],
  routes: [
    pixel(/^\/actionp?\/0$/, { account: 'ti', event: eventName }),
    // https://learn.microsoft.com/en-us/advertising/guides/uet-conversion-api-integration
    serverEvents(/^\/v\d+\/(?<account>\d+)\/events\/?$/, { list: 'data', event: serverEventName }),
    // Session recordings by Microsoft Clarity, which is loaded together with UET.
    sideChannel(/^\/p\/insights\//),
    scriptLoad(/^\/bat\.js$/),
    scriptLoad(/^\/p\/action\/(?<account>\d+)\.js$/),
  ],
}

/** Returns an event's name. The type is `pageLoad` or `custom`. Only custom events have names. */
function serverEventName({ eventType, eventName }: Record<string, unknown>): unknown {
  return eventName || eventType
}

/**
 * Returns an event's name. `evt` only distinguishes page loads from custom events. A custom event is named after its
 * action.
 */
function eventName({ evt = '', ea }: Params): string {
  return evt === 'custom' ? ea || evt : evt
}
