import { testDecoder } from './decoder-cases.ts'
import { pinterestTag } from './pinterest-tag.ts'

const json = (value: unknown) => encodeURIComponent(JSON.stringify(value))

// https://help.pinterest.com/en/business/article/add-event-codes
testDecoder(pinterestTag, [
  {
    name: 'an event with flattened values',
    url: `https://ct.pinterest.com/v3/?tid=26100&event=checkout&ed=${json({ value: 9.5, line_items: [{ product_id: 'S1' }] })}&ad=${json({ loc: 'https://shop.example/' })}`,
    account: '26100',
    events: ['checkout'],
    params: { 'ed[value]': '9.5', 'ed[line_items][0][product_id]': 'S1', 'ad[loc]': 'https://shop.example/' },
    without: ['ed', 'ad'],
  },
  {
    name: "the tag's initialisation, with malformed JSON",
    url: 'https://ct.pinterest.com/v3/?tid=26100&event=init&pd=%7B%22em%22',
    account: '26100',
    events: ['init'],
    params: { pd: '{"em"' },
  },
  {
    name: 'an image tag',
    url: 'https://ct.pinterest.com/v3/?tid=26100&event=checkout&ed[value]=9.5&pd[em]=x&noscript=1',
    account: '26100',
    events: ['checkout'],
    params: { 'ed[value]': '9.5', 'pd[em]': 'x' },
  },
  {
    name: 'an event in the body',
    url: 'https://ct.pinterest.com/v3/',
    body: 'tid=26100&event=pagevisit',
    account: '26100',
    events: ['pagevisit'],
  },
  { name: 'an ID sync', url: 'https://ct.pinterest.com/user/?tid=26100&cb=1', events: [] },
  { name: 'the library', url: 'https://s.pinimg.com/ct/lib/main.abc.js', events: [''], kind: 'library' },
  { name: "the vendor's website", url: 'https://www.pinterest.com/v3/?event=checkout', events: null },
  {
    name: 'server events',
    url: 'https://api.pinterest.com/v5/ad_accounts/549755885175/events?test=true&access_token=s3cret',
    body: '{"data":[{"event_name":"checkout","event_id":"e1","custom_data":{"value":"59.9"}},{"event_name":"signup"}]}',
    account: '549755885175',
    events: ['checkout', 'signup'],
    params: { event_id: 'e1', 'custom_data.value': '59.9', test: 'true' },
    without: ['access_token'],
  },
  { name: 'another API call', url: 'https://api.pinterest.com/v5/ad_accounts/7/campaigns', events: null },
])
