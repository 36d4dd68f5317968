import type { DecodedEvent, KeyMeanings } from './decoder.ts'
import { objectsOf, type Params, scalarOrNull, scalarText, sharedOf } from './params.ts'
import type { VendorRequest } from './vendor-request.ts'

/** Meanings of the keys of calls. */
export const SEGMENT_MEANINGS: KeyMeanings = {
  anonymousId: ['identifier', 'Visitor ID: the browser'],
  userId: ['identifier', 'User ID assigned by the site'],
  previousId: ['identifier', 'Earlier ID of the user'],
  groupId: ['identifier', 'ID of the user’s group'],
  messageId: ['identifier', 'ID of the call, by which duplicates are recognized'],
  writeKey: ['identifier', 'Write key of the source'],
  type: ['code', 'Kind of call: track, page, identify, group, alias or screen'],
  event: ['text', 'Name of the event'],
  name: ['text', 'Name of the page or screen'],
  timestamp: ['time', 'Time of the event'],
  originalTimestamp: ['time', 'Time of the event by the sender’s clock'],
  sentAt: ['time', 'Time at which the call was sent, by the sender’s clock'],
  receivedAt: ['time', 'Time at which the call was received'],
  channel: ['code', 'Where the call was made, such as browser'],
  version: ['code', 'Version of the format'],
  'context.page.url': ['url', 'Address of the page'],
  'context.page.path': ['text', 'Path of the page'],
  'context.page.search': ['text', 'Query of the page’s address'],
  'context.page.title': ['text', 'Title of the page'],
  'context.page.referrer': ['url', 'Address of the previous page'],
  'context.campaign.name': ['text', 'Name of the campaign'],
  'context.campaign.source': ['text', 'Source of the campaign'],
  'context.campaign.medium': ['text', 'Medium of the campaign'],
  'context.campaign.term': ['text', 'Keyword of the campaign'],
  'context.campaign.content': ['text', 'Content of the campaign'],
  'context.locale': ['code', 'Language of the browser'],
  'context.timezone': ['code', 'Time zone of the visitor'],
  'context.userAgent': ['text', 'User agent of the browser'],
  'context.ip': ['text', 'IP address of the visitor'],
  'context.screen.width': ['number', 'Width of the screen in pixels'],
  'context.screen.height': ['number', 'Height of the screen in pixels'],
  'context.device.id': ['identifier', 'ID of the device'],
  'context.device.advertisingId': ['identifier', 'Advertising ID of the device'],
  'properties.url': ['url', 'Address of the page'],
  'properties.path': ['text', 'Path of the page'],
  'properties.title': ['text', 'Title of the page'],
  'properties.referrer': ['url', 'Address of the previous page'],
  'properties.search': ['text', 'Query of the page’s address'],
  'properties.order_id': ['identifier', 'ID of the order'],
  'properties.checkout_id': ['identifier', 'ID of the checkout'],
  'properties.cart_id': ['identifier', 'ID of the cart'],
  'properties.revenue': ['amount', 'Revenue of the event'],
  'properties.total': ['amount', 'Total of the order, with tax and shipping'],
  'properties.subtotal': ['amount', 'Total of the order before discounts'],
  'properties.shipping': ['amount', 'Shipping cost of the order'],
  'properties.tax': ['amount', 'Tax of the order'],
  'properties.discount': ['amount', 'Discount on the order'],
  'properties.value': ['amount', 'Value of the event'],
  'properties.coupon': ['text', 'Coupon of the order'],
  'properties.currency': ['code', 'Currency (ISO 4217)'],
  'properties.affiliation': ['text', 'Store or affiliation of the order'],
  'properties.product_id': ['identifier', 'ID of the product'],
  'properties.sku': ['identifier', 'SKU of the product'],
  'properties.products.#.product_id': ['identifier', 'ID of the product'],
  'properties.products.#.sku': ['identifier', 'SKU of the product'],
  'properties.products.#.name': ['text', 'Name of the product'],
  'properties.products.#.brand': ['text', 'Brand of the product'],
  'properties.products.#.category': ['text', 'Category of the product'],
  'properties.products.#.variant': ['text', 'Variant of the product'],
  'properties.products.#.price': ['amount', 'Price of one product'],
  'properties.products.#.quantity': ['number', 'Number of products'],
  'properties.query': ['text', 'Words that were searched'],
  'properties.*': [null, 'Property of the event, set by the site'],
  'traits.email': ['text', 'E-mail address of the user'],
  'traits.*': [null, 'Property of the user, set by the site'],
}

/** Abbreviations of the call types in the browser library's paths. */
const TYPES = new Map([
  ['t', 'track'],
  ['p', 'page'],
  ['i', 'identify'],
  ['g', 'group'],
  ['a', 'alias'],
  ['s', 'screen'],
])

/**
 * Calls in Segment's format, which several vendors have adopted: one call, or `{batch: [call, …]}`, where the batch's
 * key applies to calls that have none. The account is the write key from the call or the query. A key in a header is
 * not available. https://segment.com/docs/connections/spec/
 */
export function* readCalls({ path, query, json }: VendorRequest): Iterable<DecodedEvent> {
  const { batch, ...rest } = json
  if (batch === undefined) yield toEvent(json, path, query)
  const shared = sharedOf(rest)
  for (const call of objectsOf(batch)) yield toEvent({ ...shared, ...call }, path, query)
}

/** Only `track` calls have event names. Other calls are named after their type. */
export function toEvent(call: Record<string, unknown>, path: string, query: Params): DecodedEvent {
  const last = path.replace(/\/$/, '').split('/').at(-1) ?? ''
  const type = scalarText(call.type) || (TYPES.get(last) ?? last)
  const event = type === 'track' ? scalarText(call.event) : type
  return { event, account: scalarOrNull(call.writeKey ?? query.writeKey), params: call }
}
