import type { DecodedEvent, Decoder, KeyReference } from './decoder.ts'
import { withEmbedded } from './embedded-params.ts'
import { bracketed } from './json.ts'
import { scalarOrNull } from './params.ts'
import { scriptLoad, serverEvents, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const TR = /^\/tr\/?$/
/** https://developers.facebook.com/docs/marketing-api/conversions-api. Graph API paths may omit the version. */
const SERVER = /^\/(?:v\d+\.\d+\/)?(?<account>\d+)\/events\/?$/

const KEYS: readonly KeyReference[] = [
  {
    url: 'https://developers.facebook.com/docs/meta-pixel/reference',
    meanings: {
      'cd[value]': ['amount', 'Value of the event'],
      'cd[currency]': ['code', 'Currency of the value (ISO 4217)'],
      'cd[content_ids]': ['identifier', 'IDs of the products'],
      'cd[content_ids][#]': ['identifier', 'ID of a product'],
      'cd[content_type]': ['text', 'product or product_group'],
      'cd[content_name]': ['text', 'Name of the page or product'],
      'cd[content_category]': ['text', 'Category of the page or product'],
      'cd[contents]': ['text', 'Products with their ids and quantities, as JSON'],
      'cd[contents][#][id]': ['identifier', 'ID of the product'],
      'cd[contents][#][quantity]': ['number', 'Number of products'],
      'cd[num_items]': ['number', 'Number of items in the checkout'],
      'cd[predicted_ltv]': ['amount', 'Predicted lifetime value of a subscriber'],
      'cd[search_string]': ['text', 'Words that were searched'],
      'cd[status]': ['text', 'Status of the registration'],
      'cd[*': [null, 'Parameter of the event, set by the site'],
    },
  },
  {
    url: 'https://developers.facebook.com/docs/meta-pixel/advanced',
    meanings: {
      id: ['identifier', 'ID of the pixel'],
      ev: ['text', 'Name of the event'],
      eid: ['identifier', 'Event ID, by which a copy from a server is recognized'],
      dl: ['url', 'Address of the page'],
      rl: ['url', 'Address of the previous page'],
      if: ['boolean', 'True if the page is in a frame'],
      ts: ['time', 'Time of the event, in milliseconds since 1970'],
      sw: ['number', 'Width of the screen in pixels'],
      sh: ['number', 'Height of the screen in pixels'],
      noscript: ['boolean', '1 for an image that is loaded without JavaScript'],
    },
  },
  {
    url: 'https://developers.facebook.com/docs/marketing-api/conversions-api/parameters/fbp-and-fbc',
    meanings: {
      fbp: ['identifier', 'Browser ID, from the cookie _fbp'],
      fbc: ['identifier', 'Click ID of an ad, from the cookie _fbc'],
    },
  },
  {
    url: 'https://developers.facebook.com/docs/meta-pixel/advanced/advanced-matching',
    meanings: {
      'ud[em]': ['identifier', 'E-mail address, hashed'],
      'ud[ph]': ['identifier', 'Phone number, hashed'],
      'ud[fn]': ['identifier', 'First name, hashed'],
      'ud[ln]': ['identifier', 'Last name, hashed'],
      'ud[ge]': ['identifier', 'Gender, hashed'],
      'ud[db]': ['identifier', 'Date of birth, hashed'],
      'ud[ct]': ['identifier', 'City, hashed'],
      'ud[st]': ['identifier', 'State, hashed'],
      'ud[zp]': ['identifier', 'Postal code, hashed'],
      'ud[country]': ['identifier', 'Country, hashed'],
      'ud[external_id]': ['identifier', 'ID of the visitor, assigned by the site'],
    },
  },
  {
    url: 'https://developers.facebook.com/docs/marketing-apis/data-processing-options',
    meanings: {
      dpo: ['code', 'Data processing option, such as LDU (limited data use)'],
      dpoco: ['code', 'Country for the data processing option'],
      dpost: ['code', 'State for the data processing option'],
    },
  },
  {
    url: 'https://developers.facebook.com/docs/marketing-api/conversions-api/parameters',
    meanings: {
      event_name: ['text', 'Name of the event'],
      event_time: ['time', 'Time of the event, in seconds since 1970'],
      event_id: ['identifier', 'Event ID, by which a copy from a browser is recognized'],
      event_source_url: ['url', 'Address of the page'],
      action_source: ['code', 'Where the event happened, such as website'],
      opt_out: ['boolean', 'True if the event must not be used for ad delivery'],
      'user_data.em': ['identifier', 'E-mail address, hashed'],
      'user_data.ph': ['identifier', 'Phone number, hashed'],
      'user_data.fn': ['identifier', 'First name, hashed'],
      'user_data.ln': ['identifier', 'Last name, hashed'],
      'user_data.ct': ['identifier', 'City, hashed'],
      'user_data.st': ['identifier', 'State, hashed'],
      'user_data.zp': ['identifier', 'Postal code, hashed'],
      'user_data.country': ['identifier', 'Country, hashed'],
      'user_data.external_id': ['identifier', 'ID of the visitor, assigned by the site'],
      'user_data.fbp': ['identifier', 'Browser ID, from the cookie _fbp'],
      'user_data.fbc': ['identifier', 'Click ID of an ad, from the cookie _fbc'],
      'user_data.client_ip_address': ['text', 'IP address of the visitor'],
      'user_data.client_user_agent': ['text', 'User agent of the browser'],
      'custom_data.value': ['amount', 'Value of the event'],
      'custom_data.currency': ['code', 'Currency of the value (ISO 4217)'],
      'custom_data.order_id': ['identifier', 'ID of the order'],
      'custom_data.content_ids': ['identifier', 'IDs of the products'],
      'custom_data.content_type': ['text', 'product or product_group'],
      'custom_data.content_name': ['text', 'Name of the page or product'],
      'custom_data.content_category': ['text', 'Category of the page or product'],
      'custom_data.contents.#.id': ['identifier', 'ID of the product'],
      'custom_data.contents.#.quantity': ['number', 'Number of products'],
      'custom_data.contents.#.item_price': ['amount', 'Price of one product'],
      'custom_data.num_items': ['number', 'Number of items in the checkout'],
      'custom_data.search_string': ['text', 'Words that were searched'],
    },
  },
]

export const metaPixel: Decoder = {
  vendor: 'Meta Pixel',
  source: 'https://developers.facebook.com/docs/meta-pixel/advanced',
  keys: KEYS,
  hosts: ['facebook.com', 'connect.facebook.net'],
  routes: [
    // Microdata that the pixel found in the page's markup. It is sent automatically after a page view and is not one of
    // the site's events.
    { ...sideChannel(TR), when: ({ fields }) => fields.ev?.toLowerCase() === 'microdata' },
    { path: TR, read: readPixel },
    {
      ...serverEvents(SERVER, { list: 'data', event: 'event_name' }),
      when: ({ host }) => host === 'graph.facebook.com',
    },
    // A repeated event for the browser's attribution API, and reports on the vendor's own code.
    sideChannel(/^\/(?:privacy_sandbox|log)\//),
    scriptLoad(/^\/signals\/config\/(?<account>\d+)$/),
    scriptLoad(/\/fb(?:events|ds)\.js$|^\/signals\//),
  ],
}

/**
 * Products and their ids are each in a parameter that contains JSON. The parameters are not removed; their values are
 * added with keys such as `cd[contents][0][id]`.
 */
function readPixel({ fields }: VendorRequest): DecodedEvent[] {
  const inside = ['cd[contents]', 'cd[content_ids]'].flatMap((key) => Object.entries(bracketed(key, fields[key])))
  const params = withEmbedded(fields, inside)
  return [{ event: fields.ev ?? '', account: scalarOrNull(fields.id), params }]
}
