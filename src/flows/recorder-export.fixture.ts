import type { Recording } from './recorder-export.ts'

/** A visit to a shop, exactly as exported by the Recorder of Chrome 140. */
export const EXPORTED: Recording & { selectorAttribute?: string } = {
  title: 'Recording 23.11.2026 at 09:41:07',
  steps: [
    {
      type: 'setViewport',
      width: 1357,
      height: 1269,
      deviceScaleFactor: 1,
      isMobile: false,
      hasTouch: false,
      isLandscape: false,
    },
    {
      type: 'navigate',
      url: 'https://shop.example/',
      assertedEvents: [{ type: 'navigation', url: 'https://shop.example/', title: 'The shop' }],
    },
    {
      type: 'click',
      target: 'main',
      selectors: [
        ['aria/Red shoes'],
        ['#list > a:nth-of-type(2)'],
        ['xpath///*[@id="list"]/a[2]'],
        ['pierce/#list > a:nth-of-type(2)'],
        ['text/Red shoes'],
      ],
      offsetY: 11.5,
      offsetX: 38.34375,
      assertedEvents: [{ type: 'navigation', url: 'https://shop.example/red-shoes', title: 'Red shoes' }],
    },
    {
      type: 'click',
      target: 'main',
      selectors: [
        ['aria/Add to basket', 'aria/[role="generic"]'],
        ['buy-button', 'button > span'],
        ['xpath///*[@id="buy"]'],
        ['pierce/button > span'],
      ],
      offsetY: 4,
      offsetX: 60,
    },
    { type: 'keyDown', target: 'main', key: 'Tab' },
    { type: 'keyUp', key: 'Tab', target: 'main' },
    {
      type: 'change',
      value: '{{email}}',
      selectors: [['aria/E-mail'], ['#email'], ['xpath///*[@id="email"]'], ['pierce/#email']],
      target: 'main',
    },
  ],
}

const selectors = ['#it']

/** A recording with every kind of step and every field in the Recorder's schema. */
export const EVERY_KIND: Recording = {
  title: 'Every kind of step',
  timeout: 5000,
  steps: [
    {
      type: 'setViewport',
      width: 1280,
      height: 800,
      deviceScaleFactor: 1,
      isMobile: false,
      hasTouch: false,
      isLandscape: false,
    },
    { type: 'emulateNetworkConditions', target: 'main', download: 50_000, upload: 50_000, latency: 20 },
    { type: 'navigate', target: 'main', url: 'http://shop.example/', timeout: 30_000 },
    { type: 'click', selectors, offsetX: 1, offsetY: 2, button: 'secondary', deviceType: 'mouse', duration: 400 },
    { type: 'doubleClick', selectors, frame: [0, 1], offsetX: 1, offsetY: 2, deviceType: 'touch' },
    { type: 'hover', selectors },
    { type: 'change', selectors, value: 'Berlin' },
    { type: 'keyDown', key: 'Enter' },
    { type: 'keyUp', key: 'Enter' },
    { type: 'scroll', x: 0, y: 300 },
    { type: 'scroll', selectors, x: 0, y: 300, frame: [0] },
    { type: 'waitForElement', selectors, operator: '>=', count: 2, visible: true, properties: { id: 'it' } },
    { type: 'waitForElement', selectors: [['#host', '#it']], visible: false, attributes: { lang: 'en' } },
    { type: 'waitForExpression', expression: 'document.readyState === "complete"', timeout: 100 },
    { type: 'close', target: 'http://shop.example/popup' },
  ],
}
