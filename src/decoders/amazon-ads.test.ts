import { amazonAds } from './amazon-ads.ts'
import { testDecoder } from './decoder-cases.ts'

// https://advertising.amazon.com/help/GZR2WSZBVMUSDTV7
testDecoder(amazonAds, [
  {
    name: 'a page view',
    url: 'https://s.amazon-adsystem.com/iu3?pid=1b3cf6ff&event=PageView&ts=1',
    account: '1b3cf6ff',
    events: ['PageView'],
  },
  {
    name: 'a purchase in Europe',
    url: 'https://aax-eu.amazon-adsystem.com/s/iu3?pid=1b3cf6ff&event=Off-AmazonPurchases&value=9.5&currencyCode=EUR',
    account: '1b3cf6ff',
    events: ['Off-AmazonPurchases'],
    params: { currencyCode: 'EUR' },
  },
  {
    name: 'the copy for the Attribution Reporting API',
    url: 'https://ara.paa-reporting-advertising.amazon/aat?pid=1b3cf6ff&event=PageView',
    events: [],
  },
  { name: "a publisher's ID sync", url: 'https://s.amazon-adsystem.com/iu3?cm3ppd=1&d=dtb-pub&csif=t', events: [] },
  { name: 'the library', url: 'https://c.amazon-adsystem.com/aat/amzn.js', events: [''], kind: 'library' },
  { name: 'an ad auction', url: 'https://aax.amazon-adsystem.com/e/dtb/bid?src=1', events: null },
])
