import { testDecoder } from './decoder-cases.ts'
import { microsoftAdvertisingUet } from './microsoft-advertising-uet.ts'

// https://learn.microsoft.com/en-us/advertising/msa-help/hlp_ba_conc_uet_parameters_table
testDecoder(microsoftAdvertisingUet, [
  {
    name: 'a page load',
    url: 'https://bat.bing.com/action/0?ti=10000&Ver=2&mid=m1&evt=pageLoad&p=https%3A%2F%2Fshop.example%2F&tl=Home',
    account: '10000',
    events: ['pageLoad'],
    params: { p: 'https://shop.example/', tl: 'Home' },
  },
  {
    name: 'a custom event, named after its action',
    url: 'https://bat.bing.net/actionp/0?ti=10000&Ver=2&evt=custom&ea=signup&ec=form&el=footer&ev=3&gv=9.5&gc=EUR',
    account: '10000',
    events: ['signup'],
    params: { evt: 'custom', ec: 'form', gv: '9.5', gc: 'EUR' },
  },
  {
    name: 'a custom event without an action',
    url: 'https://bat.bing.com/action/0?ti=10000&evt=custom&ecomm_pagetype=home',
    account: '10000',
    events: ['custom'],
  },
  { name: 'a recording', url: 'https://bat.bing.com/p/insights/c/z', body: '{}', events: [] },
  { name: 'the library', url: 'https://bat.bing.com/bat.js', events: [''], kind: 'library' },
  {
    name: "a tag's configuration",
    url: 'https://bat.bing.com/p/action/10000.js',
    account: '10000',
    events: [''],
    kind: 'library',
  },
  { name: 'another service', url: 'https://c.bing.com/action/0?ti=10000&evt=pageLoad', events: null },
  {
    name: 'server events',
    url: 'https://capi.uet.microsoft.com/v1/97168911/events',
    body: '{"data":[{"eventType":"custom","eventName":"purchase","eventId":"e1"},{"eventType":"pageLoad","pageLoadId":"p1"}]}',
    account: '97168911',
    events: ['purchase', 'pageLoad'],
    params: { eventId: 'e1' },
  },
])
