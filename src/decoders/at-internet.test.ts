import { atInternet } from './at-internet.ts'
import { type DecoderCase, testDecoder } from './decoder-cases.ts'

const HIT = 'https://logs1234.xiti.com/hit.xiti?s=123456&idclient=c1'

const kinds: [query: string, event: string][] = [
  ['p=shop::cart&s2=3', 'page.display'],
  ['p=shop::button&click=A', 'click.action'],
  ['p=shop::menu&click=N', 'click.navigation'],
  ['p=shop::paper&click=T', 'click.download'],
  ['p=shop::partner&click=S', 'click.exit'],
  ['type=video&p=intro&a=play', 'video'],
  ['type=AT&atc=PUB-1', 'AT'],
]

// https://developers.atinternet-solutions.com/as2-tagging-en/
testDecoder(atInternet, [
  {
    name: 'chapters, bracketed text and JSON',
    url: `${HIT}&p=shop::men::cart&x1=[urn:bbc:1]&f2=5&stc=${encodeURIComponent('{"content":{"type":"page"}}')}`,
    account: '123456',
    events: ['page.display'],
    params: {
      p: 'shop::men::cart',
      'p.chapter1': 'shop',
      'p.chapter2': 'men',
      'p.page': 'cart',
      x1: '[urn:bbc:1]',
      'x1.label': 'urn:bbc:1',
      'stc.content.type': 'page',
    },
    without: ['f2.label'],
  },
  ...kinds.map(
    ([query, event]): DecoderCase => ({ name: query, url: `${HIT}&${query}`, account: '123456', events: [event] }),
  ),
  {
    name: "on the customer's host, in the previous version",
    url: 'https://stats.shop.example/hit.xiti?xts=123456&p=cart',
    account: '123456',
    events: ['page.display'],
  },
  { name: 'a repeated hit', url: `${HIT}&p=cart&Rdt=On`, events: [] },
  { name: 'the library', url: 'https://tag.aticdn.net/123456/smarttag.js', events: [''], kind: 'library' },
  { name: 'an unrelated file', url: 'https://shop.example/hit.gif?s=1', events: null },
])
