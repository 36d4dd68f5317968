import { testDecoder } from './decoder-cases.ts'
import { marketo } from './marketo.ts'

// https://experienceleague.adobe.com/en/docs/marketo-developer/marketo/javascriptapi/leadtracking/munchkin
testDecoder(marketo, [
  {
    name: 'a page',
    url: 'https://123-abc-456.mktoresp.com/webevents/visitWebPage?_mchNc=1&_mchId=123-ABC-456&_mchTk=_mch-1&_mchHo=shop.example&_mchRu=%2Fcheckout&_mchVr=165',
    account: '123-ABC-456',
    events: ['visitWebPage'],
    params: { _mchRu: '/checkout', _mchHo: 'shop.example' },
  },
  {
    name: 'a click by POST',
    url: 'https://123-abc-456.mktoresp.com/webevents/clickLink?_mchId=123-ABC-456&_mchHr=https%3A%2F%2Fshop.example%2F',
    body: '',
    account: '123-ABC-456',
    events: ['clickLink'],
  },
  {
    name: 'a form',
    url: 'https://app-ab01.marketo.com/index.php/leadCapture/save2',
    body: 'Email=jane%40shop.example&formid=7&munchkinId=123-ABC-456',
    account: '123-ABC-456',
    events: ['form_submission'],
    params: { formid: '7' },
  },
  {
    name: "a form on the customer's host",
    url: 'https://go.shop.example/index.php/leadCapture/save2',
    body: 'formid=7&munchkinId=123-ABC-456',
    account: '123-ABC-456',
    events: ['form_submission'],
  },
  {
    name: "a form's definition",
    url: 'https://app-ab01.marketo.com/index.php/form/getForm?munchkinId=123-ABC-456&form=7',
    account: '123-ABC-456',
    kind: 'library',
    events: [''],
  },
  { name: 'the library', url: 'https://munchkin.marketo.net/165/munchkin.js', kind: 'library', events: [''] },
  { name: "the vendor's website", url: 'https://www.marketo.com/software/', events: null },
])
