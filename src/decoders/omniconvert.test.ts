import { testDecoder } from './decoder-cases.ts'
import { omniconvert } from './omniconvert.ts'

// https://help.omniconvert.com/kba/installing-the-omniconvert-tracking-code-on-your-website/
testDecoder(omniconvert, [
  {
    name: 'an event',
    url: 'https://app.omniconvert.com/mktzsave/?id_website=101&event=pageview&url=https%3A%2F%2Fshop.example%2F',
    account: '101',
    events: ['pageview'],
    params: { url: 'https://shop.example/' },
  },
  {
    name: "an event as a form, through the customer's host",
    url: 'https://shop.example/mktzsave',
    body: 'id_website=101&event=goal&value=42.5',
    account: '101',
    events: ['goal'],
    params: { value: '42.5' },
  },
  {
    name: 'the library',
    url: 'https://cdn.omniconvert.com/js/a1b2c3d.js',
    account: 'a1b2c3d',
    kind: 'library',
    events: [''],
  },
  { name: 'the same path on another site', url: 'https://shop.example/mktzsave?x=1', events: null },
  { name: "the vendor's website", url: 'https://www.omniconvert.com/js/x.js', events: null },
])
