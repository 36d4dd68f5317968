import { testDecoder } from './decoder-cases.ts'
import { nielsen } from './nielsen.ts'

// https://engineeringportal.nielsen.com/wiki/DCR_Static_Browser_SDK
testDecoder(nielsen, [
  {
    name: 'a page',
    url: 'https://secure-us.imrworldwide.com/cgi-bin/m?ci=us-101h&cg=0&cc=1&si=https%3A//shop.example/&rp=&ts=compact&rnd=1',
    account: 'us-101h',
    events: ['page_view'],
    params: { si: 'https://shop.example/' },
  },
  {
    name: 'a repeated page view',
    url: 'https://secure-us.imrworldwide.com/cgi-bin/m?ci=us-101h&cg=0&cc=1&si=https%3A//shop.example/&rnd=1&ja=1',
    events: [],
  },
  {
    name: 'a ping',
    url: 'https://secure-dcr.imrworldwide.com/cgi-bin/gn?prd=dcr&ci=us-101&c13=asid,P0A1&at=view&rt=text&asn=home',
    account: 'P0A1',
    events: ['view'],
    params: { asn: 'home' },
  },
  {
    name: 'a session',
    url: 'https://secure-it.imrworldwide.com/cgi-bin/gn?prd=session&c13=asid,P0A1&sessionId=s1',
    account: 'P0A1',
    events: ['session'],
  },
  {
    name: 'a ping to the cloud API',
    url: 'https://cloudapi.imrworldwide.com/nmapi/v2/P0A1/s1/a?b=%7B%22event%22%3A%22playhead%22%2C%22value%22%3A%225%22%7D',
    account: 'P0A1',
    events: ['playhead'],
    params: { value: '5' },
  },
  {
    name: 'the library',
    url: 'https://cdn-gl.imrworldwide.com/conf/P0A1.js',
    account: 'P0A1',
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.nielsen.com/cgi-bin/m', events: null },
])
