// A receiver of Switchyard's callbacks in Go: the standard library alone.
//
//	GATEWAY=https://gateway.example.com PORT=8000 go run receiver.go
//
// Both signatures are checked over the bytes that arrived. Put it behind whatever ends TLS for you.
package main

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxBodyBytes = 64 << 20
	maxAge       = 5 * time.Minute
)

type keySet struct {
	rsa     []*rsa.PublicKey
	ed25519 []ed25519.PublicKey
	readAt  time.Time
}

type receiver struct {
	gateway string
	client  http.Client

	mutex sync.Mutex
	keys  *keySet
	// A callback may come more than once. Keep this in your database, together with what you do about a job.
	done map[string]bool
}

func main() {
	port := setting("PORT", "8000")
	one := &receiver{
		gateway: setting("GATEWAY", "http://127.0.0.1:8080"),
		client:  http.Client{Timeout: 10 * time.Second},
		done:    map[string]bool{},
	}
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on %d\n", listener.Addr().(*net.TCPAddr).Port)
	server := http.Server{Handler: one, ReadTimeout: 30 * time.Second}
	log.Fatal(server.Serve(listener))
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func (one *receiver) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maxBodyBytes))
	if err != nil {
		http.Error(response, "the body could not be read", http.StatusBadRequest)
		return
	}
	authentic, err := one.isAuthentic(request.Header, body)
	if err != nil {
		// 5xx: the gateway tries again. 4xx would be the end of it.
		log.Print(err)
		http.Error(response, "", http.StatusServiceUnavailable)
		return
	}
	if request.Method != http.MethodPost || !authentic {
		http.Error(response, "not a callback of the gateway", http.StatusBadRequest)
		return
	}
	var payload struct {
		JobID  string `json:"job_id"`
		Status string `json:"status"`
	}
	if err := json.Unmarshal(body, &payload); err != nil {
		http.Error(response, "not JSON", http.StatusBadRequest)
		return
	}
	one.mutex.Lock()
	again := ""
	if one.done[payload.JobID] {
		again = ", seen before"
	}
	one.done[payload.JobID] = true
	one.mutex.Unlock()
	fmt.Printf("job %s: %s%s\n", payload.JobID, payload.Status, again)
	response.WriteHeader(http.StatusNoContent)
}

func (one *receiver) isAuthentic(header http.Header, body []byte) (bool, error) {
	one.mutex.Lock()
	known := one.keys
	one.mutex.Unlock()
	if known != nil {
		if known.isSigned(header, body) {
			return true, nil
		}
		// It may be a key that is newer than ours. Ask again, but not for every forged request.
		if time.Since(known.readAt) < 2*time.Second {
			return false, nil
		}
	}
	fresh, err := one.readKeys()
	if err != nil {
		return false, err
	}
	one.mutex.Lock()
	one.keys = fresh
	one.mutex.Unlock()
	return fresh.isSigned(header, body), nil
}

func (one *receiver) readKeys() (*keySet, error) {
	answer, err := one.client.Get(one.gateway + "/v3/webhooks/keys")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the gateway answered %d", answer.StatusCode)
	}
	var published struct {
		Keys []struct{ Kty, N, E, X string }
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&published); err != nil {
		return nil, err
	}
	keys := &keySet{readAt: time.Now()}
	for _, key := range published.Keys {
		switch key.Kty {
		case "RSA":
			modulus, exponent := number(key.N), number(key.E)
			keys.rsa = append(keys.rsa, &rsa.PublicKey{N: modulus, E: int(exponent.Int64())})
		case "OKP":
			if bytes, err := base64.RawURLEncoding.DecodeString(key.X); err == nil && len(bytes) == ed25519.PublicKeySize {
				keys.ed25519 = append(keys.ed25519, bytes)
			}
		}
	}
	return keys, nil
}

func number(text string) *big.Int {
	bytes, _ := base64.RawURLEncoding.DecodeString(text)
	return new(big.Int).SetBytes(bytes)
}

func (keys *keySet) isSigned(header http.Header, body []byte) bool {
	return keys.isServiceSigned(header, body) && keys.isStandardSigned(header, body)
}

func (keys *keySet) isServiceSigned(header http.Header, body []byte) bool {
	signature, err := hex.DecodeString(header.Get("X-Service-Signature"))
	if err != nil {
		return false
	}
	// The text of the body's digest is what RSA signs, and RSA makes a digest of it once more.
	inner := sha256.Sum256(body)
	outer := sha256.Sum256([]byte(hex.EncodeToString(inner[:])))
	for _, key := range keys.rsa {
		if rsa.VerifyPKCS1v15(key, crypto.SHA256, outer[:], signature) == nil {
			return true
		}
	}
	return false
}

func (keys *keySet) isStandardSigned(header http.Header, body []byte) bool {
	timestamp := header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > maxAge {
		return false
	}
	content := append([]byte(header.Get("Webhook-Id")+"."+timestamp+"."), body...)
	for _, one := range strings.Fields(header.Get("Webhook-Signature")) {
		text, isKnown := strings.CutPrefix(one, "v1a,")
		signature, err := base64.StdEncoding.DecodeString(text)
		if !isKnown || err != nil {
			continue
		}
		for _, key := range keys.ed25519 {
			if ed25519.Verify(key, content, signature) {
				return true
			}
		}
	}
	return false
}
