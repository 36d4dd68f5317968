/** The page at `/settings/collectors`. */
export const collectors = {
  restrictedAction: 'Viewing and adding collectors',
  intro: 'A collector is a separate process that receives events for this server and stores them in ClickHouse.',
  guide: 'When collectors are useful, and how to run them',
  none: 'No collectors yet. This server receives all events itself. Add collectors to receive more events than one machine can, or to keep receiving events while this server is down.',
  inDataFolder:
    'This server receives all events itself and stores them in its data folder. Collectors require ClickHouse, so that several machines can store events in the same place.',
  add: 'Add collector',
  nameHint: 'For example the host on which it runs. It identifies the collector in messages and metrics.',
  create: 'Add',
  command: 'Command',
  commandHint:
    'Run it on the machine of the collector, with the URL of ClickHouse. It contains the token, which is shown only once.',
  copyCommand: 'Copy command',
  token: 'Token',
  tokenHint: 'To store it as a secret, for example of Kubernetes.',
  stored: 'I have stored it',
  statuses: { connected: 'Connected', away: 'Away', never: 'Never connected' },
  never: 'Never',
  otherVersion: (version: string) => `This server is ${version}`,
  columns: {
    status: 'Status',
    lastContact: 'Last contact',
    version: 'Version',
    lag: 'Lag',
    waiting: 'Waiting events',
    free: 'Free disk space',
  },
  awayHint:
    'Alerts are evaluated without the events of collectors that are away. They keep receiving events, which are stored and evaluated when they reach this server again.',
  remove: 'Remove',
  removeNamed: (name: string) => `Remove ${name}`,
  removeTitle: 'Remove collector',
  removeHint:
    'Its token stops working immediately. Events that wait on its disk are not stored. To keep them, stop sending events to it and remove it when no events wait.',
  removeButton: 'Remove collector',
  removed: (name: string) => `Collector ${name} removed.`,
}
