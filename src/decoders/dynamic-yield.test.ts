import { testDecoder } from './decoder-cases.ts'
import { dynamicYield } from './dynamic-yield.ts'

// https://dy.dev/docs/implement-script
testDecoder(dynamicYield, [
  {
    name: 'a page',
    url: 'https://async-px.dynamicyield.com/uia?cnst=1&_=1&id=-77&se=8700000&p=1&url=https%3A%2F%2Fshop.example%2F',
    account: '8700000',
    events: ['page_view'],
    params: { url: 'https://shop.example/' },
  },
  {
    name: 'a page event',
    url: 'https://async-px-eu.dynamicyield.com/dpx?cnst=1&_=1&name=Purchase&sec=8700000&props=%7B%22value%22%3A42.5%7D',
    account: '8700000',
    events: ['Purchase'],
    params: { 'props.value': '42.5' },
  },
  {
    name: 'a variation',
    url: 'https://async-px.dynamicyield.com/var?cnst=1&sec=8700000&expId=7',
    account: '8700000',
    events: ['variation_impression'],
  },
  {
    name: 'a batch',
    url: 'https://async-px.dynamicyield.com/batch?cnst=1&_=1',
    body: JSON.stringify({
      md: { sec: '8700000', uid: '-77' },
      data: [
        { type: 'imp', expId: 7 },
        { type: 'event', name: 'Add to Cart' },
      ],
    }),
    account: '8700000',
    events: ['impression', 'Add to Cart'],
    params: { uid: '-77', expId: '7' },
  },
  {
    name: 'server events',
    url: 'https://dy-api.com/v2/collect/user/event',
    body: JSON.stringify({ user: { dyid: '1' }, events: [{ name: 'Purchase', properties: { value: 42.5 } }] }),
    events: ['Purchase'],
    params: { 'user.dyid': '1', 'properties.value': '42.5' },
  },
  { name: 'time on page', url: 'https://px.dynamicyield.com/dps?sec=8700000&scroll=0', events: [] },
  {
    name: 'a malformed batch',
    url: 'https://px.dynamicyield.com/batch',
    body: '[]',
    events: [],
    error: 'Dynamic Yield: the body is not a JSON object',
  },
  {
    name: 'the library',
    url: 'https://cdn.dynamicyield.com/api/8700000/api_dynamic.js',
    account: '8700000',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.dynamicyield.com/id', events: null },
])
