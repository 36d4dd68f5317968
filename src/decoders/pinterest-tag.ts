import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { bracketed } from './json.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad, serverEvents, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://help.pinterest.com/en/business/article/add-event-codes',
    meanings: {
      tid: ['identifier', 'ID of the tag'],
      event: ['text', 'Name of the event'],
      noscript: ['boolean', '1 for an image that is loaded without JavaScript'],
      'ed[value]': ['amount', 'Value of the event'],
      'ed[currency]': ['code', 'Currency of the value (ISO 4217)'],
      'ed[order_id]': ['identifier', 'ID of the order'],
      'ed[order_quantity]': ['number', 'Number of items in the order'],
      'ed[event_id]': ['identifier', 'Event ID, by which a copy from a server is recognized'],
      'ed[promo_code]': ['text', 'Coupon of the order'],
      'ed[property]': ['text', 'Property of the brand to which the page belongs'],
      'ed[search_query]': ['text', 'Words that were searched'],
      'ed[video_title]': ['text', 'Title of the video'],
      'ed[lead_type]': ['text', 'Type of the lead'],
      'ed[line_items][#][product_id]': ['identifier', 'ID of the product'],
      'ed[line_items][#][product_name]': ['text', 'Name of the product'],
      'ed[line_items][#][product_category]': ['text', 'Category of the product'],
      'ed[line_items][#][product_variant]': ['text', 'Variant of the product'],
      'ed[line_items][#][product_variant_id]': ['identifier', 'ID of the product’s variant'],
      'ed[line_items][#][product_price]': ['amount', 'Price of one product'],
      'ed[line_items][#][product_quantity]': ['number', 'Number of products'],
      'ed[line_items][#][product_brand]': ['text', 'Brand of the product'],
      'pd[em]': ['identifier', 'E-mail address, hashed'],
    },
  },
  {
    url: 'https://developers.pinterest.com/docs/api/v5/events-create',
    meanings: {
      event_name: ['text', 'Name of the event'],
      event_id: ['identifier', 'Event ID, by which a copy from a browser is recognized'],
      event_time: ['time', 'Time of the event, in seconds since 1970'],
      event_source_url: ['url', 'Address of the page'],
      action_source: ['code', 'Where the event happened, such as web'],
      opt_out: ['boolean', 'True if the visitor refused tracking'],
      'user_data.em': ['identifier', 'E-mail address, hashed'],
      'user_data.ph': ['identifier', 'Phone number, hashed'],
      'user_data.external_id': ['identifier', 'ID of the visitor, assigned by the site, hashed'],
      'user_data.click_id': ['identifier', 'Click ID of a Pinterest ad'],
      'user_data.client_ip_address': ['text', 'IP address of the visitor'],
      'user_data.client_user_agent': ['text', 'User agent of the browser'],
      'custom_data.value': ['amount', 'Value of the event'],
      'custom_data.currency': ['code', 'Currency of the value (ISO 4217)'],
      'custom_data.order_id': ['identifier', 'ID of the order'],
      'custom_data.content_ids': ['identifier', 'IDs of the products'],
      'custom_data.num_items': ['number', 'Number of items'],
      'custom_data.search_string': ['text', 'Words that were searched'],
    },
  },
]

export const pinterestTag: Decoder = {
  vendor: 'Pinterest Tag',
  source: 'https://help.pinterest.com/en/business/article/add-event-codes',
  keys: KEYS,
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
