import { cookiebot } from './cookiebot.ts'
import { testDecoder } from './decoder-cases.ts'

const ID = '0f1e2d3c-0000-4000-8000-000000000000'

// https://www.cookiebot.com/en/developer/
testDecoder(cookiebot, [
  {
    name: 'a choice',
    url: `https://consent.cookiebot.com/logconsent.ashx?action=accept&nocache=1&clp=true&cls=true&clm=false&cbid=${ID}&referer=https%3A%2F%2Fshop.example`,
    account: ID,
    events: ['accept'],
    params: {
      referer: 'https://shop.example',
      'consent.preferences': 'granted',
      'consent.statistics': 'granted',
      'consent.marketing': 'denied',
    },
  },
  {
    name: 'a refusal',
    url: `https://consent.cookiebot.eu/logconsent.ashx?action=decline&cbid=${ID}&method=strict`,
    account: ID,
    events: ['decline'],
    without: ['consent.marketing'],
  },
  { name: 'the usage counter', url: `https://imgsct.cookiebot.com/1.gif?dgi=${ID}`, events: [] },
  {
    name: 'the library',
    url: `https://consent.cookiebot.com/uc.js?cbid=${ID}`,
    account: ID,
    kind: 'library',
    events: [''],
  },
  {
    name: 'the settings',
    url: `https://consentcdn.cookiebot.com/consentconfig/${ID}/shop.example/configuration.js`,
    account: ID,
    kind: 'library',
    events: [''],
  },
  {
    name: 'the banner',
    url: `https://consent.cookiebot.com/${ID}/cc.js?renew=false&referer=shop.example`,
    account: ID,
    kind: 'library',
    events: [''],
  },
  { name: "the vendor's website", url: 'https://www.cookiebot.com/en/pricing/', events: null },
])
