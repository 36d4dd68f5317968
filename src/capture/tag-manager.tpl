___INFO___

{
  "type": "TAG",
  "id": "cvt_temp_public_id",
  "version": 1,
  "securityGroups": [],
  "displayName": "Tagwarden",
  "categories": [
    "ANALYTICS",
    "UTILITY"
  ],
  "brand": {
    "id": "brand_dummy",
    "displayName": "Tagwarden"
  },
  "description": "Reports to Tagwarden which tags ran, how they ended and how long they took. Loads the Tagwarden script on pages without the head snippet.",
  "containerContexts": [
    "WEB"
  ]
}


___TEMPLATE_PARAMETERS___

[
  {
    "type": "TEXT",
    "name": "scriptUrl",
    "displayName": "Script URL",
    "simpleValueType": true,
    "help": "URL of the Tagwarden script of this property. If empty, the script is used only on pages whose head snippet loads it.",
    "defaultValue": "SCRIPT_URL"
  },
  {
    "type": "TEXT",
    "name": "customerId",
    "displayName": "Customer id",
    "simpleValueType": true,
    "help": "Variable that contains the customer id. Optional. The id is hashed before it is stored."
  },
  {
    "type": "TEXT",
    "name": "sessionId",
    "displayName": "Session id",
    "simpleValueType": true,
    "help": "Variable that contains the session id. Only a hash of the id leaves the page. If empty, Tagwarden creates its own sessions."
  },
  {
    "type": "TEXT",
    "name": "allowedDomains",
    "displayName": "Allowed domains",
    "simpleValueType": true,
    "help": "Comma-separated domains on which this tag works, including their subdomains. If empty, it works on all domains."
  },
  {
    "type": "TEXT",
    "name": "selectedTags",
    "displayName": "Selected tags",
    "simpleValueType": true,
    "help": "Comma-separated ids of the tags to report. If empty, all tags are reported."
  }
]


___SANDBOXED_JS_FOR_WEB_TEMPLATE___

const addEventCallback = require('addEventCallback');
const copyFromDataLayer = require('copyFromDataLayer');
const copyFromWindow = require('copyFromWindow');
const createArgumentsQueue = require('createArgumentsQueue');
const getContainerVersion = require('getContainerVersion');
const getUrl = require('getUrl');
const injectScript = require('injectScript');
const makeString = require('makeString');

// Splits a comma-separated list. Empty text returns an empty list.
const listOf = (text) =>
  makeString(text || '').split(',').map((part) => part.trim()).filter((part) => part.length > 0);

const isBelow = (host, domain) => host === domain || host.slice(-domain.length - 1) === '.' + domain;

const report = () => {
  const selected = listOf(data.selectedTags);
  const isReported = (tag) =>
    tag.exclude !== 'true' && (selected.length === 0 || selected.indexOf(makeString(tag.id)) >= 0);
  const version = getContainerVersion();
  // If the script has not loaded yet, its commands are queued.
  const tagwarden = createArgumentsQueue('tagwarden', 'tagwardenQueue');
  tagwarden('configure', {
    version: version.version,
    env: version.debugMode || version.previewMode ? 'dev' : 'prod',
    customerId: data.customerId,
    sessionId: data.sessionId
  });
  // Reported before any tag has finished, because a container that fails later was still loaded.
  tagwarden('container', version.containerId);
  const event = copyFromDataLayer('event');
  addEventCallback((containerId, eventData) => {
    const tags = eventData.tags.filter(isReported);
    if (tags.length > 0) tagwarden('tags', containerId, event, tags);
  });
};

const host = getUrl('host');
const domains = listOf(data.allowedDomains);

if (domains.length > 0 && !domains.some((domain) => isBelow(host, domain))) {
  data.gtmOnSuccess();
} else {
  report();
  if (data.scriptUrl && !copyFromWindow('tagwardenQueue.isSnippet')) {
    injectScript(data.scriptUrl, data.gtmOnSuccess, data.gtmOnFailure, 'tagwarden');
  } else {
    data.gtmOnSuccess();
  }
}


___WEB_PERMISSIONS___

[
  {
    "instance": {
      "key": {
        "publicId": "read_event_metadata",
        "versionId": "1"
      },
      "param": []
    },
    "clientAnnotations": {
      "isEditedByUser": true
    },
    "isRequired": true
  },
  {
    "instance": {
      "key": {
        "publicId": "read_container_data",
        "versionId": "1"
      },
      "param": []
    },
    "clientAnnotations": {
      "isEditedByUser": true
    },
    "isRequired": true
  },
  {
    "instance": {
      "key": {
        "publicId": "read_data_layer",
        "versionId": "1"
      },
      "param": [
        {
          "key": "allowedKeys",
          "value": {
            "type": 1,
            "string": "specific"
          }
        },
        {
          "key": "keyPatterns",
          "value": {
            "type": 2,
            "listItem": [
              {
                "type": 1,
                "string": "event"
              }
            ]
          }
        }
      ]
    },
    "clientAnnotations": {
      "isEditedByUser": true
    },
    "isRequired": true
  },
  {
    "instance": {
      "key": {
        "publicId": "get_url",
        "versionId": "1"
      },
      "param": [
        {
          "key": "urlParts",
          "value": {
            "type": 1,
            "string": "specific"
          }
        },
        {
          "key": "host",
          "value": {
            "type": 8,
            "boolean": true
          }
        }
      ]
    },
    "clientAnnotations": {
      "isEditedByUser": true
    },
    "isRequired": true
  },
  {
    "instance": {
      "key": {
        "publicId": "access_globals",
        "versionId": "1"
      },
      "param": [
        {
          "key": "keys",
          "value": {
            "type": 2,
            "listItem": [
              {
                "type": 3,
                "mapKey": [
                  {
                    "type": 1,
                    "string": "key"
                  },
                  {
                    "type": 1,
                    "string": "read"
                  },
                  {
                    "type": 1,
                    "string": "write"
                  },
                  {
                    "type": 1,
                    "string": "execute"
                  }
                ],
                "mapValue": [
                  {
                    "type": 1,
                    "string": "tagwarden"
                  },
                  {
                    "type": 8,
                    "boolean": true
                  },
                  {
                    "type": 8,
                    "boolean": true
                  },
                  {
                    "type": 8,
                    "boolean": true
                  }
                ]
              },
              {
                "type": 3,
                "mapKey": [
                  {
                    "type": 1,
                    "string": "key"
                  },
                  {
                    "type": 1,
                    "string": "read"
                  },
                  {
                    "type": 1,
                    "string": "write"
                  },
                  {
                    "type": 1,
                    "string": "execute"
                  }
                ],
                "mapValue": [
                  {
                    "type": 1,
                    "string": "tagwardenQueue"
                  },
                  {
                    "type": 8,
                    "boolean": true
                  },
                  {
                    "type": 8,
                    "boolean": true
                  },
                  {
                    "type": 8,
                    "boolean": false
                  }
                ]
              },
              {
                "type": 3,
                "mapKey": [
                  {
                    "type": 1,
                    "string": "key"
                  },
                  {
                    "type": 1,
                    "string": "read"
                  },
                  {
                    "type": 1,
                    "string": "write"
                  },
                  {
                    "type": 1,
                    "string": "execute"
                  }
                ],
                "mapValue": [
                  {
                    "type": 1,
                    "string": "tagwardenQueue.isSnippet"
                  },
                  {
                    "type": 8,
                    "boolean": true
                  },
                  {
                    "type": 8,
                    "boolean": false
                  },
                  {
                    "type": 8,
                    "boolean": false
                  }
                ]
              }
            ]
          }
        }
      ]
    },
    "clientAnnotations": {
      "isEditedByUser": true
    },
    "isRequired": true
  },
  {
    "instance": {
      "key": {
        "publicId": "inject_script",
        "versionId": "1"
      },
      "param": [
        {
          "key": "urls",
          "value": {
            "type": 2,
            "listItem": [
              {
                "type": 1,
                "string": "SCRIPT_ORIGIN/t/*"
              }
            ]
          }
        }
      ]
    },
    "clientAnnotations": {
      "isEditedByUser": true
    },
    "isRequired": true
  }
]


___TESTS___

scenarios:
- name: reports the tags of an event, except excluded tags
  code: |-
    runCode({ scriptUrl: '', selectedTags: '' });
    callback('GTM-ABC', { tags: [
      { id: '7', status: 'success', executionTime: 3, name: 'Purchase' },
      { id: '8', status: 'success', executionTime: 1, exclude: 'true' }
    ] });
    assertThat(said[1][0]).isEqualTo('container');
    assertThat(said[1][1]).isEqualTo('GTM-ABC');
    assertThat(said[2][3]).isEqualTo([{ id: '7', status: 'success', executionTime: 3, name: 'Purchase' }]);
    assertApi('gtmOnSuccess').wasCalled();
- name: reports only selected tags
  code: |-
    runCode({ scriptUrl: '', selectedTags: '8, 9' });
    callback('GTM-ABC', { tags: [{ id: '7', status: 'success' }, { id: '9', status: 'failure' }] });
    assertThat(said[2][3]).isEqualTo([{ id: '9', status: 'failure' }]);
- name: does nothing on other domains
  code: |-
    runCode({ scriptUrl: 'SCRIPT_URL', allowedDomains: 'blog.example, other.example' });
    assertThat(said).hasLength(0);
    assertApi('injectScript').wasNotCalled();
    assertApi('gtmOnSuccess').wasCalled();
- name: loads the script on pages without the head snippet
  code: |-
    runCode({ scriptUrl: 'SCRIPT_URL' });
    assertApi('injectScript').wasCalled();
setup: |-
  const said = [];
  let callback;
  mock('addEventCallback', (given) => { callback = given; });
  mock('copyFromDataLayer', 'purchase');
  mock('copyFromWindow', undefined);
  mock('createArgumentsQueue', () => (name, first, second, third) => { said.push([name, first, second, third]); });
  mock('getContainerVersion', { containerId: 'GTM-ABC', version: '12', debugMode: false, previewMode: false });
  mock('getUrl', 'www.shop.example');
  mock('injectScript', (url, onSuccess) => { onSuccess(); });


___NOTES___

Generated by Tagwarden for one property. The page /docs/connect/browser-script of the server describes the data it sends.
