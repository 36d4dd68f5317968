/** Returns the result of a page of the shop that loaded without errors. */
export const loaded = (path: string) => ({
  url: `https://shop.example${path}`,
  status: 200,
  depth: 0,
  title: '',
  loadMs: 1,
  bytes: 1,
  requests: 1,
  error: null,
})
