import { testDecoder } from './decoder-cases.ts'
import { googleAds } from './google-ads.ts'

// https://support.google.com/google-ads/answer/7548399
testDecoder(googleAds, [
  {
    name: 'a conversion with readable consent values',
    url: 'https://www.googleadservices.com/pagead/conversion/123456/?random=1&label=AbC-1&value=9.5&currency_code=EUR&oid=T1&en=purchase&gtm=45be&gcs=G110&data=event%3Dpurchase%3Becomm_prodid%3D7',
    account: 'AW-123456',
    events: ['purchase'],
    params: { label: 'AbC-1', oid: 'T1', 'consent.ad_storage': 'granted', 'data.ecomm_prodid': '7' },
  },
  {
    name: 'a conversion without the script',
    url: 'https://www.googleadservices.com/pagead/conversion/123456/?label=AbC-1&guid=ON&script=0',
    account: 'AW-123456',
    events: ['conversion'],
  },
  {
    name: 'a conversion while consent is denied',
    url: 'https://pagead2.googlesyndication.com/pagead/conversion/123456/?label=AbC-1&en=conversion&gcs=G100',
    account: 'AW-123456',
    events: ['conversion'],
    params: { 'consent.ad_storage': 'denied' },
  },
  {
    name: "a conversion through a shop's tag gateway",
    url: 'https://shop.example/metrics/g/d/ccm/conversion/123456/?random=1&en=conversion&gtm=45892e69',
    account: 'AW-123456',
    events: ['conversion'],
  },
  {
    name: 'a remarketing event, named after its data',
    url: 'https://googleads.g.doubleclick.net/pagead/viewthroughconversion/123456/?fmt=3&data=event%3Dview_item%3Bid%3D7',
    body: '',
    account: 'AW-123456',
    events: ['view_item'],
    params: { 'data.id': '7' },
  },
  {
    name: 'a legacy remarketing list',
    url: 'https://googleads.g.doubleclick.net/pagead/viewthroughconversion/123456/?label=x1&guid=ON&script=0',
    account: 'AW-123456',
    events: ['remarketing'],
  },
  {
    name: 'a ping for two accounts',
    url: 'https://www.google.com/ccm/collect?tids=AW-1~AW-2&en=page_view&dl=https%3A%2F%2Fshop.example%2F',
    account: 'AW-1',
    events: ['page_view', 'page_view'],
    params: { dl: 'https://shop.example/' },
  },
  {
    name: "a container's ping",
    url: 'https://www.google.com/ccm/collect?en=page_view&gtm=45',
    events: ['page_view'],
  },
  {
    name: 'a repeated conversion',
    url: 'https://googleads.g.doubleclick.net/pagead/viewthroughconversion/123456/?label=AbC-1&en=conversion',
    events: [],
  },
  {
    name: 'a redirected conversion',
    url: 'https://googleads.g.doubleclick.net/pagead/viewthroughconversion/123456/?label=AbC-1&ctc_id=CA&ocp_id=1',
    events: [],
  },
  { name: 'the copy to a country domain', url: 'https://www.google.co.uk/pagead/1p-user-list/123456/?x=1', events: [] },
  {
    name: 'the copy of a remarketing event',
    url: 'https://www.google.com/rmkt/collect/123456/?data=event%3Dx',
    events: [],
  },
  { name: 'hashed user data', url: 'https://google.com/ccm/form-data/123456?em=tv.1~em.x', events: [] },
  {
    name: 'the library',
    url: 'https://www.googletagmanager.com/gtag/js?id=AW-123456',
    account: 'AW-123456',
    events: [''],
    kind: 'library',
  },
  { name: 'a search', url: 'https://www.google.com/search?q=conversion', events: null },
  { name: 'the same path on another site', url: 'https://shop.example/pagead/conversion/123456/', events: null },
  { name: 'an ad request', url: 'https://googleads.g.doubleclick.net/pagead/ads?client=ca', events: null },
])
