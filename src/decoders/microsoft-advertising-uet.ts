import type { Decoder, KeyReference } from './decoder.ts'
import type { Params } from './params.ts'
import { pixel, scriptLoad, serverEvents, sideChannel } from './route-builders.ts'

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://learn.microsoft.com/en-us/advertising/msa-help/hlp_ba_conc_uet_parameters_table',
    meanings: {
      ti: ['identifier', 'ID of the UET tag'],
      Ver: ['code', 'Version of the UET tag'],
      mid: ['identifier', 'ID of the page load, shared by its events'],
      uid: ['identifier', 'ID of a signed-in user, assigned by the site'],
      vid: ['identifier', 'ID of an anonymous visitor'],
      evt: ['code', 'pageLoad or custom'],
      rn: ['number', 'Random number that prevents caching'],
      msclkid: ['identifier', 'Click ID of a Microsoft ad'],
      p: ['url', 'Address of the page'],
      r: ['url', 'Address of the previous page'],
      tl: ['text', 'Title of the page'],
      kw: ['text', 'Keywords of the page'],
      lt: ['duration', 'Load time of the page, in milliseconds'],
      lg: ['code', 'Language of the browser'],
      sw: ['number', 'Width of the screen in pixels'],
      sh: ['number', 'Height of the screen in pixels'],
      sc: ['number', 'Color depth of the screen in bits'],
      ec: ['text', 'Category of the event'],
      ea: ['text', 'Action of the event'],
      el: ['text', 'Label of the event'],
      ev: ['number', 'Value of the event'],
      gv: ['amount', 'Revenue of the goal'],
      gc: ['code', 'Currency of the revenue (ISO 4217)'],
      prodid: ['identifier', 'ID of the product'],
      pagetype: ['text', 'Type of the page, such as product or cart'],
    },
  },
  {
    url: 'https://learn.microsoft.com/en-us/advertising/msa-help/hlp_ba_proc_uet_exampleeventsecommerce',
    meanings: {
      ecomm_prodid: ['identifier', 'ID of the product'],
      ecomm_pagetype: ['text', 'Type of the page, such as product or cart'],
      ecomm_totalvalue: ['amount', 'Total value of the products'],
      ecomm_category: ['identifier', 'ID of the category'],
      ecomm_query: ['text', 'Words that were searched'],
      transaction_id: ['identifier', 'ID of the order'],
    },
  },
  {
    url: 'https://learn.microsoft.com/en-us/advertising/guides/uet-conversion-api-integration',
    meanings: {
      eventType: ['code', 'pageLoad or custom'],
      eventName: ['text', 'Name of the event'],
      eventId: ['identifier', 'Event ID, by which a copy from a browser is recognized'],
      eventTime: ['time', 'Time of the event, in seconds since 1970'],
      eventSourceUrl: ['url', 'Address of the page'],
      pageLoadId: ['identifier', 'ID of the page load, shared by its events'],
    },
  },
]

export const microsoftAdvertisingUet: Decoder = {
  vendor: 'Microsoft Advertising UET',
  source: 'https://learn.microsoft.com/en-us/advertising/msa-help/hlp_ba_conc_uet_parameters_table',
  keys: KEYS,
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

/** Returns an event's name. The type is pageLoad or custom. Only custom events have names. */
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
