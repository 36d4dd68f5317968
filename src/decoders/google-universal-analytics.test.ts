import { testDecoder } from './decoder-cases.ts'
import { googleUniversalAnalytics } from './google-universal-analytics.ts'

// https://developers.google.com/analytics/devguides/collection/protocol/v1/parameters
testDecoder(googleUniversalAnalytics, [
  {
    name: 'a page view',
    url: 'https://www.google-analytics.com/j/collect?v=1&_v=j101&t=pageview&tid=UA-1234-1&cid=1.2&dl=https%3A%2F%2Fshop.example&cd1=x&gcs=G100',
    account: 'UA-1234-1',
    events: ['pageview'],
    params: { cd1: 'x', 'consent.analytics_storage': 'denied' },
  },
  {
    name: 'an event in the body',
    url: 'https://www.google-analytics.com/collect',
    body: 'v=1&t=event&ec=video&ea=play&el=intro&tid=UA-1234-1',
    account: 'UA-1234-1',
    events: ['play'],
    params: { ec: 'video', el: 'intro' },
  },
  {
    name: 'a batch',
    url: 'https://www.google-analytics.com/batch',
    body: 'v=1&t=pageview&tid=UA-1234-1\nv=1&t=transaction&tid=UA-1234-1&ti=T1\n',
    account: 'UA-1234-1',
    events: ['pageview', 'transaction'],
  },
  {
    name: 'from a first-party host',
    url: 'https://metrics.shop.example/ga/collect?v=1&t=timing&tid=UA-1234-1',
    account: 'UA-1234-1',
    events: ['timing'],
  },
  {
    name: 'a page view in the old protocol',
    url: 'https://ssl.google-analytics.com/__utm.gif?utmwv=5.7.2&utmac=UA-1234-1&utmp=%2F',
    account: 'UA-1234-1',
    events: ['page'],
  },
  {
    name: 'an event in the old protocol',
    url: 'https://ssl.google-analytics.com/__utm.gif?utmt=event&utme=5(video*play*intro)(3)&utmac=UA-1234-1',
    account: 'UA-1234-1',
    events: ['play'],
  },
  { name: 'an uncaptured body', url: 'https://www.google-analytics.com/r/collect', events: [] },
  {
    name: 'a copy of a hit for advertising',
    url: 'https://stats.g.doubleclick.net/j/collect?t=dc&aip=1&_r=3&v=1&tid=UA-1234-1',
    events: [],
  },
  { name: 'audiences', url: 'https://www.google.se/ads/ga-audiences?v=1&t=sr&tid=UA-1234-1', events: [] },
  { name: 'the library', url: 'https://www.google-analytics.com/analytics.js', events: [''], kind: 'library' },
  { name: 'Analytics 4', url: 'https://www.google-analytics.com/g/collect?v=2&tid=G-TEST12345', events: null },
  { name: 'another site', url: 'https://shop.example/collect?v=1&tid=7', events: null },
])
