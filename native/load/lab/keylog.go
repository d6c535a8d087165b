package lab

import (
	"os"
	"sync"
)

// mostKeyLog is what is kept of secrets: those of the first 2,500 connections or so, more than the capture of the first packets has.
const mostKeyLog = 2 << 20

// A keyLog is the file with the secrets of TLS (SSLKEYLOGFILE) by which the capture of the first packets is read.
type keyLog struct {
	name string

	mutex sync.Mutex
	file  *os.File
	size  int
}

// Write implements io.Writer: one line. Without an error the rest of a long load is left out.
func (k *keyLog) Write(line []byte) (int, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.size+len(line) > mostKeyLog {
		return len(line), nil
	}
	if k.file == nil {
		file, err := os.OpenFile(k.name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return 0, err
		}
		k.file = file
	}
	count, err := k.file.Write(line)
	k.size += count
	return count, err
}
