import { expect, test } from 'bun:test'
import { containerPathOf, inputOf, NO_DEPLOYMENT } from './tag-deployment.ts'

test.each([
  ['https://tagmanager.google.com/#/container/accounts/6000000001/containers/7000001/workspaces/3', true],
  ['accounts/6000000001/containers/7000001', true],
  ['GTM-ABC1234', false],
  ['', false],
])('extracts the container path from %p if there is one', (text, isThere) => {
  expect(containerPathOf(text)).toBe(isThere ? 'accounts/6000000001/containers/7000001' : null)
})

test('the request contains the account and container numbers', () => {
  const draft = { ...NO_DEPLOYMENT, domainId: 'dom_1', address: ' x/accounts/6/containers/71/y', publicId: 'GTM-1' }
  expect(inputOf(draft)).toEqual({
    domainId: 'dom_1',
    containerPath: 'accounts/6/containers/71',
    tagName: 'Monitoring Tag',
    container: { name: 'GTM-1', publicId: 'GTM-1', accountId: '6', containerId: '71' },
    customerIdVariable: '',
    sessionIdVariable: '',
    whitelistedDomains: [],
  })
  expect(inputOf({ ...draft, selectedTags: { '12': ['Order ID'] } }).selectedTags).toEqual({ '12': ['Order ID'] })
})
