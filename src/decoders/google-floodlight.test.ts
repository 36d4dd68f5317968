import { testDecoder } from './decoder-cases.ts'
import { googleFloodlight } from './google-floodlight.ts'

// https://support.google.com/campaignmanager/answer/2823450
testDecoder(googleFloodlight, [
  {
    name: 'a sale in an iframe',
    url: 'https://1234.fls.doubleclick.net/activityi;src=1234;type=sales;cat=order0;qty=1;cost=42.5;ord=T1;u1=a%3Bb;~oref=https%3A%2F%2Fshop.example%2F%3Fa%3D1%26b?',
    account: 'DC-1234',
    events: ['sales/order0'],
    params: { cost: '42.5', ord: 'T1', u1: 'a;b', '~oref': 'https://shop.example/?a=1&b' },
  },
  {
    name: 'an image',
    url: 'https://ad.doubleclick.net/ddm/activity/src=1234;type=count0;cat=home0;gcs=G111;ord=1',
    account: 'DC-1234',
    events: ['count0/home0'],
    params: { 'consent.ad_storage': 'granted' },
  },
  {
    name: 'a counter while consent is denied',
    url: 'https://ade.googlesyndication.com/ddm/activity/src=1234;type=count0;cat=home0;npa=1;ord=1',
    account: 'DC-1234',
    events: ['count0/home0'],
  },
  {
    name: 'the copy after a redirect',
    url: 'https://1234.fls.doubleclick.net/activityi;dc_pre=CI;src=1234;type=sales;cat=order0;ord=1?',
    events: [],
  },
  {
    name: 'the copy for the Attribution Reporting API',
    url: 'https://ad.doubleclick.net/activity;register_conversion=1;src=1234;type=sales;cat=order0;ord=1?',
    events: [],
  },
  { name: 'the copy to another service', url: 'https://adservice.google.com/ddm/fls/z/src=1234;type=a', events: [] },
  {
    name: 'the copy with a unique ID',
    url: 'https://www.google.com/gmp/conversion/_dc_unique_id=1;src=1234',
    events: [],
  },
  {
    name: 'the library',
    url: 'https://www.googletagmanager.com/gtag/destination?id=DC-1234',
    account: 'DC-1234',
    events: [''],
    kind: 'library',
  },
  { name: 'a banner', url: 'https://ad.doubleclick.net/ddm/trackimp/N1.2/B3.4;ord=1', events: null },
  { name: 'the same path on another site', url: 'https://shop.example/activity;src=1234;type=a', events: null },
])
