import { testDecoder } from './decoder-cases.ts'
import { qualtrics } from './qualtrics.ts'

const ENGINE = 'https://siteintercept.qualtrics.com/WRSiteInterceptEngine/'

// https://www.qualtrics.com/support/website-app-feedback/
testDecoder(qualtrics, [
  {
    name: 'a page',
    url: `${ENGINE}Targeting.php?Q_ZoneID=ZN_1&Q_CLIENTVERSION=2.1&Q_CLIENTTYPE=web`,
    body: 'Q_LOC=https%3A%2F%2Fshop.example%2F',
    account: 'ZN_1',
    events: ['targeting'],
    params: { Q_LOC: 'https://shop.example/' },
  },
  {
    name: 'a displayed intercept',
    url: `${ENGINE}?Q_Impress=1&Q_CID=CR_1&Q_SIID=SI_1&Q_ASID=AS_1`,
    account: 'SI_1',
    events: ['impression'],
    params: { Q_CID: 'CR_1' },
  },
  {
    name: 'a click on an intercept',
    url: `${ENGINE}?Q_Click=1&Q_CID=CR_1&Q_SIID=SI_1`,
    account: 'SI_1',
    events: ['click'],
  },
  { name: 'the content to display', url: `${ENGINE}?Q_ZID=ZN_1&t=1`, body: 'Q_VSI=%7B%7D', events: [] },
  { name: 'an image', url: `${ENGINE}Graphic.php?IM=IM_1`, events: [] },
  {
    name: 'the library',
    url: 'https://zn1-shop.siteintercept.qualtrics.com/SIE/?Q_ZID=ZN_1',
    account: 'ZN_1',
    kind: 'library',
    events: [''],
  },
  {
    name: 'other parts of the library',
    url: 'https://siteintercept.qualtrics.com/dxjsmodule/CoreModule.js',
    kind: 'library',
    events: [''],
  },
  { name: 'a survey', url: 'https://shop.qualtrics.com/jfe/form/SV_1', events: null },
])
